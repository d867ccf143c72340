/// tinyproxy on 127.0.0.1: a forward proxy with another implementation than squid.
public final class TinyproxyServer: Sendable {
    private let credentials: (user: String, password: String)?
    private let process: ServerProcess

    /// Makes the directory; nothing runs yet. With credentials, every client has to send them.
    ///
    /// Throws `SystemCallError`.
    public init(credentials: (user: String, password: String)? = nil) throws {
        self.credentials = credentials
        process = try ServerProcess("tinyproxy")
    }

    /// Starts tinyproxy and returns when it accepts connections.
    ///
    /// Throws `TestServerError`: it is missing (with the package to install) or does not start (with its log).
    public func start() async throws {
        let program = try Program("tinyproxy", package: "tinyproxy-bin")
        let folder = process.folder
        try await process.start(portCount: 1) { ports in
            var lines = ["Port \(ports[0])", "Listen 127.0.0.1", "Timeout 30", "MaxClients 50", "LogLevel Info"]
            if let credentials { lines.append("BasicAuth \(credentials.user) \(credentials.password)") }
            let file = try folder.write("tinyproxy.conf", lines.joined(separator: "\n") + "\n")
            return .init(program: program, arguments: ["-d", "-c", file])
        }
    }

    /// Kills tinyproxy at once.
    public func stop() { process.stop() }

    /// The port; 0 before the first start.
    public var port: UInt16 { process.ports.first ?? 0 }

    /// tinyproxy's output since its last start, with the request line of every request.
    public var log: String { process.output }
}
