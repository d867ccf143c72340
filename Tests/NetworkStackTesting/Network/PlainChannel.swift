import Glibc

/// TCP without anything above it.
final class PlainChannel: ByteChannel {
    private let descriptor: Int32
    init(descriptor: Int32) { self.descriptor = descriptor }

    var agreed: ConnectionRecord.TLS? { nil }
    var isCloseNotifySeen: Bool { false }
    func handshake() -> ChannelOutcome { .moved(0) }
    func notifyClose() {}

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelOutcome {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count == 0 { return .ended }
        return count > 0 ? .moved(count) : Self.failure("recv", waitingFor: POLLIN)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> ChannelOutcome {
        let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        return count >= 0 ? .moved(count) : Self.failure("send", waitingFor: POLLOUT)
    }

    static func failure(_ call: String, waitingFor events: Int32) -> ChannelOutcome {
        switch errno {
        case EAGAIN, EINTR: .blocked(on: Int16(events))
        case ECONNRESET, EPIPE: .reset
        default: .failed(SystemCallError(call).description)
        }
    }
}
