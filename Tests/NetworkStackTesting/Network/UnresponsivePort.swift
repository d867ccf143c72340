/// A loopback port where connecting neither succeeds nor fails: the listener's queue is full, and no connection is accepted.
///
/// Connecting to it lasts until the client times out, because the kernel drops the SYN. The queue is filled by connections of this
/// object, which live as long as it does.
public final class UnresponsivePort: Sendable {
    /// The port number in host order.
    public let port: UInt16
    private let listener: LoopbackSocket
    private let fillers: [LoopbackSocket]
    /// The local ports of the connections that fill the queue.
    public var fillerPorts: Set<UInt16> { Set(fillers.map(\.port)) }

    /// Fills a queue on a port, which the kernel chooses unless it is given; takes about 0.1 s.
    ///
    /// Throws `SystemCallError` if the kernel has no port or refuses, or if the queue cannot be filled.
    public init(_ port: UInt16 = 0, on loopback: Loopback = .v4) throws {
        let listener = try LoopbackSocket(loopback)
        try listener.bind(port: port, reusing: port != 0)
        try listener.listen(backlog: 0)
        let port = listener.port
        var fillers: [LoopbackSocket] = []
        // Backlog 0 holds one connection on Linux; other kernels hold a few.
        while fillers.count < 16 {
            let filler = try LoopbackSocket(loopback)
            fillers.append(filler)
            switch filler.connect(port: port, milliseconds: 100) {
            case .connected: continue
            case .failed(let code): throw SystemCallError("connect to fill the backlog", code: code)
            case .pending:
                self.port = port
                self.listener = listener
                self.fillers = fillers
                return
            }
        }
        throw SystemCallError("filling the backlog with \(fillers.count) connections", code: 0)
    }
}
