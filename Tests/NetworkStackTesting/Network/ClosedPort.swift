/// A loopback port where nothing listens: connecting is refused at once.
///
/// The port stays bound while this object lives, so that no other process can listen on it.
public final class ClosedPort: Sendable {
    /// The port number in host order.
    public let port: UInt16
    private let socket: LoopbackSocket

    private init(_ socket: LoopbackSocket) {
        self.socket = socket
        port = socket.port
    }

    /// Takes a port chosen by the kernel.
    ///
    /// Throws `SystemCallError` when the kernel has none.
    public static func reserve(on loopback: Loopback = .v4) throws -> ClosedPort {
        let socket = try LoopbackSocket(loopback)
        try socket.bind(port: 0, reusing: false)
        return ClosedPort(socket)
    }
}
