internal import CCurl
internal import Glibc

/// What one multi handle wants watched: its sockets, on the loop's poller, and its next deadline.
///
/// It outlives the multi handle, which may call back while it is being cleaned up.
final class SocketWatch {
    private let poller: Poller
    private let connections: ConnectionTable
    private let number: Int
    let quirks: LibcurlQuirks

    /// When libcurl wants to be called next, in milliseconds of the monotonic clock; `nil` for no wish.
    private(set) var deadline: Int64?

    init(poller: Poller, connections: ConnectionTable, number: Int, quirks: LibcurlQuirks = .running) {
        self.poller = poller
        self.connections = connections
        self.number = number
        self.quirks = quirks
    }

    func changed(_ descriptor: Int32, reads: Bool, writes: Bool) {
        poller.watch(descriptor, for: number, reads: reads, writes: writes)
    }

    /// Whether libcurl waits for anything of a socket.
    func isWatched(_ descriptor: Int32) -> Bool { poller.isWatched(descriptor) }

    /// Whether a connection has something to be read: bytes, or its end.
    func canRead(_ connection: Connection?) -> Bool {
        guard let descriptor = connection?.descriptor, !poller.isSilent(descriptor) else { return false }
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) >= 0 || errno != EAGAIN
    }

    /// Leaves what can be read of a socket alone, until it is told otherwise.
    func holdBack(_ descriptor: Int32, _ isHeldBack: Bool) { poller.holdBack(descriptor, isHeldBack, for: number) }

    /// A socket was opened, to connect with.
    func opened(_ descriptor: Int32) { poller.opened(descriptor) }

    /// One of the sockets that a transfer opened has become its connection.
    func connected(
        _ opened: [Int32],
        of transfer: ObjectIdentifier,
        at endpoints: EndpointPair,
        securedAs tlsRecord: TLSRecord?
    ) -> Connection {
        let (connection, others) = connections.add(opened, at: endpoints, securedAs: tlsRecord)
        forget(others, of: transfer)
        if let descriptor = connection.descriptor { poller.connected(descriptor) }
        return connection
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

    func timerChanged(_ milliseconds: Int) {
        // At once is any moment that has gone by. Others count from the turn's beginning, and need no look at the clock: who is
        // called a little early says so.
        deadline = milliseconds < 0 ? nil : milliseconds == 0 ? 0 : poller.turnStart + Int64(milliseconds)
    }

    /// Whether libcurl is to be called for its deadline.
    func isDue(at now: MonotonicInstant) -> Bool { deadline.map { $0 <= now.milliseconds } ?? false }

    /// Forgets the deadline, because libcurl is about to be called for it.
    func clearDeadline() { deadline = nil }
}
