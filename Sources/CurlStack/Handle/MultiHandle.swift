internal import CCurl
internal import Glibc
internal import NetworkStack

/// One libcurl multi handle: a set of transfers that share connections, its sockets on the loop's poller, and its next deadline.
///
/// It is the context of libcurl's callbacks, also of those that `curl_multi_cleanup` makes. Every easy handle keeps it, so that it
/// is freed after them.
@safe
final class MultiHandle {
    private let pointer: UnsafeMutableRawPointer
    private let poller: Poller
    private let connections: ConnectionTable
    private let slot: Int
    private let limits: Network.Configuration.Connections
    private let sharesConnections: Bool
    let quirks: LibcurlQuirks
    /// When libcurl is to be called next, in milliseconds of the monotonic clock.
    private(set) var deadline: Int64?

    /// Makes a handle, or `nil` if there is no memory for one.
    ///
    /// - Parameters:
    ///   - poller: Watches its sockets.
    ///   - connections: The connections of the loop.
    ///   - slot: The slot of its pool in the loop, which its sockets are watched for.
    ///   - limits: How many connections and streams there may be.
    ///   - sharesConnections: Whether several transfers may be under way on one connection of HTTP/2.
    ///   - quirks: The defects of libcurl to work around.
    init?(
        poller: Poller,
        connections: ConnectionTable,
        slot: Int = 0,
        limits: Network.Configuration.Connections = .init(),
        sharesConnections: Bool = true,
        quirks: LibcurlQuirks = .running
    ) {
        guard let multi = unsafe Self.make() else { return nil }
        unsafe pointer = multi
        (self.poller, self.connections, self.slot) = (poller, connections, slot)
        (self.limits, self.sharesConnections, self.quirks) = (limits, sharesConnections, quirks)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe shim_multi_set_socket_function(pointer, Callbacks.socket)
        unsafe shim_multi_set_pointer(pointer, CURLMOPT_SOCKETDATA, context)
        unsafe shim_multi_set_timer_function(pointer, Callbacks.timer)
        unsafe shim_multi_set_pointer(pointer, CURLMOPT_TIMERDATA, context)
        unsafe shim_multi_set_long(pointer, CURLMOPT_PIPELINING, sharesConnections ? shim_multiplex : 0)
        // Of a larger number, libcurl keeps 32 bits, which may be none, or takes it for its own limit.
        let streams = min(limits.streamsPerConnection, Int(Int32.max))
        unsafe shim_multi_set_long(pointer, CURLMOPT_MAX_CONCURRENT_STREAMS, streams)
        // How many connections are kept, in use or not. The queue limits how many are in use.
        unsafe shim_multi_set_long(
            pointer,
            CURLMOPT_MAXCONNECTS,
            max(min(limits.total ?? 0, 1 << 23), min(limits.perHost, 1 << 20) * 8, 64)
        )
    }

    deinit { unsafe curl_multi_cleanup(pointer) }

    func add(_ easy: EasyHandle) -> CURLMcode { unsafe curl_multi_add_handle(pointer, easy.pointer) }

    func remove(_ easy: EasyHandle) { unsafe curl_multi_remove_handle(pointer, easy.pointer) }

    /// A socket is ready.
    func act(on event: Poller.Event) {
        var running: Int32 = 0
        let mask =
            (event.canRead ? CURL_CSELECT_IN : 0) | (event.canWrite ? CURL_CSELECT_OUT : 0)
            | (event.hasFailed ? CURL_CSELECT_ERR : 0)
        unsafe curl_multi_socket_action(pointer, event.descriptor, mask, &running)
    }

    /// libcurl's deadline has come.
    func actOnTimeout() {
        var running: Int32 = 0
        deadline = nil
        unsafe curl_multi_socket_action(pointer, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    /// The next transfer that has ended, with its result.
    func nextFinished() -> (any TransferCallbacks, CURLcode)? {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(pointer, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE,
                let transfer = unsafe Callbacks.transfer(ofHandle: message.pointee.easy_handle)
            else { continue }
            return unsafe (transfer, shim_message_result(message))
        }
        return nil
    }

    /// Whether libcurl's deadline has come.
    func isDue(at now: MonotonicTime) -> Bool { deadline.map { $0 <= now.milliseconds } ?? false }
}

/// The sockets of the handle.
extension MultiHandle {
    /// libcurl waits for a socket to be readable or writable, or no longer.
    ///
    /// - Returns: Whether the system could watch it.
    @discardableResult
    func changed(_ descriptor: Int32, reads: Bool, writes: Bool) -> Bool {
        if reads || writes, !poller.isKnown(descriptor) { Self.closePairOnExec(descriptor) }
        return poller.watch(descriptor, for: slot, reads: reads, writes: writes)
    }

    /// libcurl is to be called after a time.
    func timerChanged(_ milliseconds: Int) {
        // 0 means at once. Otherwise the time counts from the last look at the timeouts, which spares a look at the clock: after a long
        // wait, libcurl may be called at once, and asks again.
        deadline = milliseconds < 0 ? nil : milliseconds == 0 ? 0 : poller.turnStart + Int64(milliseconds)
    }

    /// Whether libcurl waits for anything of a socket.
    func isWatched(_ descriptor: Int32) -> Bool { poller.isWatched(descriptor) }

    /// Whether a connection has something to be read: bytes, or its end.
    func canRead(_ connection: Connection?) -> Bool {
        guard let descriptor = connection?.descriptor, !poller.isSilent(descriptor) else { return false }
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) >= 0 || errno != EAGAIN
    }

    /// Stops reading a socket, or reads it again. Returns whether the system could.
    func holdBack(_ descriptor: Int32, _ isHeldBack: Bool) -> Bool {
        poller.holdBack(descriptor, isHeldBack, for: slot)
    }

    /// A socket was opened, to connect with.
    func opened(_ descriptor: Int32, for transfer: ObjectIdentifier) {
        poller.opened(descriptor)
        connections.opened(descriptor, for: transfer)
    }

    /// One of the sockets that a transfer opened has become its connection, the others have not.
    func connected(_ connection: Connection, besides others: [Int32], of transfer: ObjectIdentifier) {
        forget(others, of: transfer)
        if let descriptor = connection.descriptor { poller.connected(descriptor) }
    }

    /// Forgets sockets opened for a transfer that became no connection: libcurl closes those without a callback. Their numbers
    /// may be those of name lookups by now, and watched for them.
    func forget(_ opened: [Int32], of transfer: ObjectIdentifier) {
        for descriptor in opened where connections.isOpen(descriptor, for: transfer) { connections.closed(descriptor) }
    }

    /// Closes a connection's socket.
    ///
    /// - Returns: Whether the system could.
    func close(_ descriptor: Int32) -> Bool {
        poller.closed(descriptor)
        connections.closed(descriptor)
        return Glibc.close(descriptor) == 0
    }
}

/// Keeping other programs from inheriting what libcurl opens.
///
/// To be woken up, libcurl opens pairs of Unix sockets (lib/socketpair.c), or pipes from 8.5 on: one for a handle, and one for each name
/// lookup. Before 8.8 they are not close-on-exec, and no option names them.
extension MultiHandle {
    /// An end of a socket pair or a pipe that other programs would inherit.
    private struct InheritedEnd {
        let number: Int32
        /// The pipe, if it is one: its two ends have these numbers in common.
        let pipe: [UInt]?
        /// The bytes that wait here, and those that were sent here and that the other end has not read. A pipe's ends both count the former.
        private(set) var (unread, unsent) = (Int32(0), Int32(0))

        init?(_ number: Int32) {
            let flags = fcntl(number, F_GETFD)
            guard flags >= 0, flags & FD_CLOEXEC == 0 else { return nil }
            var status = stat()
            guard unsafe fstat(number, &status) == 0 else { return nil }
            let isPipe = MultiHandle.opensPipes && status.st_mode & S_IFMT == S_IFIFO
            guard isPipe || Self.isPaired(number) else { return nil }
            (self.number, pipe) = (number, isPipe ? [status.st_dev, status.st_ino] : nil)
            guard unsafe ioctl(number, UInt(FIONREAD), &unread) == 0 else { return nil }
            guard unsafe isPipe || ioctl(number, UInt(TIOCOUTQ), &unsent) == 0 else { return nil }
        }

        /// Whether it is an end of a pair: a Unix socket whose other end has no name.
        private static func isPaired(_ number: Int32) -> Bool {
            var (address, length) = (sockaddr(), socklen_t(MemoryLayout<sockaddr>.size))
            return unsafe getpeername(number, &address, &length) == 0 && Int32(address.sa_family) == AF_UNIX
                && length == MemoryLayout<sa_family_t>.size
        }

        /// Whether one more byte waits here than before.
        var hasOneMore: Bool { Self(number)?.unread == unread + 1 }

        /// Whether more was sent from here than before.
        var hasSent: Bool { Self(number).map { $0.unsent > unsent } ?? false }

        func closeOnExec() { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    }

    /// Makes a handle for libcurl; `nil` if there is no memory for one.
    ///
    /// A wakeup shows which of all descriptors are its pair: one more byte was sent from one, and waits at the other. The loop itself
    /// uses no wakeups.
    private static func make() -> UnsafeMutableRawPointer? {
        let lowest = lowestFree()
        guard let multi = unsafe curl_multi_init() else { return nil }
        // What was free is given out from below: the pair is beneath what is free now.
        let candidates = (lowest..<max(lowest, lowestFree())).compactMap(InheritedEnd.init)
        if candidates.isEmpty { return unsafe multi }
        unsafe curl_multi_wakeup(multi)
        for end in candidates where end.hasOneMore || end.hasSent { end.closeOnExec() }
        // Takes the byte away.
        unsafe curl_multi_poll(multi, nil, 0, 0, nil)
        return unsafe multi
    }

    /// libcurl waits for a descriptor for the first time: no other program inherits it, nor the other end of a name lookup's pair.
    ///
    /// A byte that is sent from this end of a socket pair shows the other end. It does no harm: the lookup's thread reads none.
    private static func closePairOnExec(_ descriptor: Int32) {
        let shown = InheritedEnd(descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard let shown else { return }
        let candidates = (descriptor + 1..<max(descriptor + 1, lowestFree(from: descriptor + 1)))
            .compactMap(InheritedEnd.init)
        var byte: UInt8 = 0
        if shown.pipe == nil { unsafe send(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
        for end in candidates where shown.pipe.map({ $0 == end.pipe }) ?? end.hasOneMore { end.closeOnExec() }
    }

    /// The lowest descriptor from a number on that is free.
    private static func lowestFree(from number: Int32 = 0) -> Int32 {
        let free = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, number)
        if free >= 0 { _ = Glibc.close(free) }
        return max(free, 0)
    }

    /// Whether the libcurl of this process opens pipes that others would inherit. With another one, all pipes are the program's.
    private static let opensPipes = (0x080500..<0x080800).contains(CurlLibrary.shared.versionNumber)
}
