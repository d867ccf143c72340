internal import COpenSSL

/// How much connections of TLS may be read before libcurl has come back to its loop.
///
/// libcurl before 8.7 reads a connection of HTTP/2 until nothing is left on it, as long as nothing of what comes belongs to the
/// body of the stream it reads for: pings, settings, empty frames. OpenSSL likewise reads session tickets and new keys until
/// something else comes. A server that sends those faster than they are read would hold the loop still. When the budget is
/// spent, libcurl reads nothing; the socket is readable again in the next turn.
final class ReadBudget {
    private var left = most

    /// A mebibyte. A longer body takes more turns; other messages cost some microseconds each.
    private static let most = 1 << 20
    /// A short read counts for this many bytes. A record takes two reads, or newer versions read several at once.
    private static let leastPerRead = 4096

    /// Whether what was read last may not be all that is there.
    var isSpent: Bool { left <= 0 }

    /// libcurl is about to be called.
    func renew() { left = Self.most }

    private func spend(_ count: Int32) { left -= max(Int(count), Self.leastPerRead) }

    /// Has what a connection reads counted from now on. The budget must outlive it.
    func install(on connection: OpaquePointer) {
        guard let socket = unsafe SSL_get_rbio(connection),
            let counter = unsafe BIO_new(OpaquePointer(bitPattern: Self.method))
        else { return }
        unsafe BIO_set_data(counter, Unmanaged.passUnretained(self).toOpaque())
        // The connection releases its reference when it gets another.
        unsafe BIO_up_ref(socket)
        unsafe BIO_push(counter, socket)
        unsafe SSL_set0_rbio(connection, counter)
    }

    /// Reads as what it stands before, as long as there is a budget. The address of what OpenSSL keeps for ever.
    private static let method: UInt = {
        let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_FILTER, "budget")
        unsafe BIO_meth_set_read(method) { counter, bytes, count in
            guard let counter = unsafe counter, let context = unsafe BIO_get_data(counter) else { return -1 }
            unsafe BIO_clear_flags(counter, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
            let budget = unsafe Unmanaged<ReadBudget>.fromOpaque(context).takeUnretainedValue()
            guard !budget.isSpent else {
                unsafe BIO_set_flags(counter, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
                return -1
            }
            let read = unsafe BIO_read(BIO_next(counter), bytes, count)
            unsafe BIO_copy_next_retry(counter)
            budget.spend(read)
            return read
        }
        unsafe BIO_meth_set_ctrl(method) { counter, command, number, pointer in
            unsafe BIO_ctrl(BIO_next(counter), command, number, pointer)
        }
        return UInt(bitPattern: method)
    }()
}
