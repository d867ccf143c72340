/// microsocks on 127.0.0.1: a SOCKS 5 proxy.
public final class MicrosocksServer: Sendable {
    private let credentials: (user: String, password: String)?
    private let process: ServerProcess

    /// Makes the directory; nothing runs yet. With credentials, every client has to send them.
    ///
    /// Throws `SystemCallError`.
    public init(credentials: (user: String, password: String)? = nil) throws {
        self.credentials = credentials
        process = try ServerProcess("microsocks")
    }

    /// Starts microsocks and returns when it accepts connections.
    ///
    /// Throws `TestServerError`: it is missing (with the package to install) or does not start (with its log).
    public func start() async throws {
        let program = try Program("microsocks", package: "microsocks")
        try await process.start(portCount: 1) { ports in
            let known = credentials.map { ["-u", $0.user, "-P", $0.password] } ?? []
            return .init(program: program, arguments: ["-i", "127.0.0.1", "-p", String(ports[0])] + known)
        }
    }

    /// Kills microsocks at once.
    public func stop() { process.stop() }

    /// The port; 0 before the first start.
    public var port: UInt16 { process.ports.first ?? 0 }

    /// The destinations of clients, as these named them: `localhost:80`, or `127.0.0.1:80` if the client resolved the name.
    public var destinations: [String] {
        process.lines.compactMap { line in
            line.firstRange(of: "connected to ").map { String(line[$0.upperBound...]) }
        }
    }

    /// Suspends until the destinations satisfy the condition and returns them; throws `WaitTimedOut` after 10 s.
    @discardableResult
    public func waitForDestinations(_ condition: ([String]) -> Bool) async throws -> [String] {
        try await process.wait(within: .seconds(10), for: { destinations }, until: condition)
    }
}
