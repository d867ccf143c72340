internal import Dispatch
internal import Glibc
internal import NetworkStack

/// Ends floods over HTTP/2 in the clear.
///
/// libcurl before 8.7 reads a connection of HTTP/2 until it gets a part of a body or nothing is left. A server that sends empty
/// frames faster than they are read would keep the loop within one call, and libcurl calls nothing back meanwhile. So another
/// thread looks: a connection that the loop has read for some milliseconds of its processor time without body bytes is
/// disconnected.
/// TLS has ``ReadBudget``.
final class FloodGuard {
    /// What the loop's thread and the looking one share.
    private final class Watch: Sendable {
        struct State {
            /// The sockets of connections of HTTP/2 in the clear.
            var sockets: Set<Int32> = []
            /// Those that were disconnected.
            var flooded: Set<Int32> = []
            /// The number of the loop's call of libcurl, or of what that has brought; `nil` while there is none.
            var call: Int?
            var isLooking = false
        }

        let state = Lock(State())
        private let clock: clockid_t

        init() {
            var clock = clockid_t()
            unsafe pthread_getcpuclockid(pthread_self(), &clock)
            self.clock = clock
        }

        /// The processor time of the loop's thread, in milliseconds.
        private var time: Int {
            var time = timespec()
            return unsafe clock_gettime(clock, &time) == 0 ? time.tv_sec * 1000 + time.tv_nsec / 1_000_000 : 0
        }

        /// Looks in a while whether the loop is still in the same call, and so on until there is none.
        func look(since call: Int, at before: Int? = nil, _ amounts: [Int32: UInt64] = [:]) {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) { [self] in
                state.withLock { state in
                    guard let current = state.call else {
                        state.isLooking = false
                        return
                    }
                    if current == call, let before, time - before >= FloodGuard.longest {
                        for (socket, amount) in amounts
                        where state.sockets.contains(socket) && FloodGuard.amountRead(of: socket) > amount {
                            state.flooded.insert(socket)
                            FloodGuard.disconnect(socket)
                        }
                    }
                    if current == call, before != nil { return look(since: call, at: before, amounts) }
                    let amounts = Dictionary(
                        uniqueKeysWithValues: state.sockets.map { ($0, FloodGuard.amountRead(of: $0)) }
                    )
                    look(since: current, at: time, amounts)
                }
            }
        }
    }

    /// This many milliseconds without body bytes are a flood: some hundred thousand frames.
    private static let longest = 8

    private let watch = Watch()
    private var count = 0
    private var calls = 0
    private var isInCall = false

    /// A connection of HTTP/2 in the clear was opened, within a call of libcurl.
    func opened(_ socket: Int32) {
        count += 1
        watch.state.withLock { _ = $0.sockets.insert(socket) }
        begin()
    }

    /// A socket is about to be closed.
    ///
    /// - Returns: Whether it was disconnected for a flood.
    func closed(_ socket: Int32) -> Bool {
        guard count > 0 else { return false }
        let (isGuarded, isFlooded) = watch.state.withLock { state in
            (state.sockets.remove(socket) != nil, state.flooded.remove(socket) != nil)
        }
        if isGuarded { count -= 1 }
        return isFlooded
    }

    /// libcurl is about to be called.
    func begin() {
        guard count > 0 else { return }
        isInCall = true
        calls &+= 1
        let isFirst = watch.state.withLock { state in
            defer { (state.call, state.isLooking) = (calls, true) }
            return !state.isLooking
        }
        if isFirst { watch.look(since: calls) }
    }

    /// libcurl has brought body bytes, from which its call counts anew.
    func renew() { if isInCall { begin() } }

    /// libcurl has come back.
    func end() {
        if exchange(&isInCall, with: false) { watch.state.withLock { $0.call = nil } }
    }

    /// Whether another thread looks at the connections from time to time.
    var isLooking: Bool { watch.state.withLock { $0.isLooking } }

    /// How much of what has come on a socket was read: that grows where libcurl reads.
    private static func amountRead(of socket: Int32) -> UInt64 {
        // Where Linux has `tcpi_bytes_received`, which the C library's `tcp_info` does not name.
        let place = 128
        var info = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(info.count)
        var unread: Int32 = 0
        guard unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, length >= place + 8,
            unsafe ioctl(socket, UInt(FIONREAD), &unread) == 0
        else { return 0 }
        let received = unsafe info.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
        return received &- UInt64(unread)
    }

    /// Ends a connection, and throws away what has come on it.
    private static func disconnect(_ socket: Int32) {
        var nowhere = sockaddr()
        nowhere.sa_family = sa_family_t(AF_UNSPEC)
        unsafe connect(socket, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }
}
