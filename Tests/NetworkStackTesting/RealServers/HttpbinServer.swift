/// httpbin on 127.0.0.1, as the Python package, behind werkzeug's threaded HTTP/1.1 server, without TLS.
///
/// werkzeug closes the connection after every response; use nginx to test reuse.
public final class HttpbinServer: Sendable {
    private let process: ServerProcess

    /// Makes the directory; nothing runs yet.
    ///
    /// Throws `SystemCallError`.
    public init() throws { process = try ServerProcess("httpbin") }

    /// Starts httpbin (about a second) and returns when it accepts connections; after `stop()`, on the same port again.
    ///
    /// Throws `TestServerError`: no python3 can import httpbin (with the package to install), or it does not start.
    public func start() async throws {
        if process.isRunning { return }
        let port = process.ports.first ?? 0
        let launch = ServerProcess.Launch(
            program: try Self.python(),
            arguments: ["-c", Self.server, String(port)],
            environment: ["PYTHONUNBUFFERED": "1"]
        )
        try await process.run(launch, within: .seconds(30)) { announcedPort != nil }
        if let announcedPort { process.keep(ports: [announcedPort]) }
    }

    /// Kills httpbin at once.
    public func stop() { process.stop() }

    /// The port; 0 before the first start.
    public var port: UInt16 { process.ports.first ?? 0 }

    /// A URL on this server.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// The server's output since its last start: one line per request, and tracebacks.
    public var log: String { process.output }

    /// The port that the script prints once it listens. It asks for port 0, so there is no race for a port.
    private var announcedPort: UInt16? {
        process.lines.first { $0.hasPrefix("LISTENING ") }.flatMap { UInt16($0.dropFirst(10)) }
    }

    // httpbin refuses chunked requests unless the server's name is gunicorn's; werkzeug decodes them, too.
    private static let server = """
        import os, sys
        from werkzeug.serving import make_server, WSGIRequestHandler
        from httpbin import app
        def named(environ, start_response):
            environ["SERVER_SOFTWARE"] = "gunicorn/werkzeug"
            return app(environ, start_response)
        WSGIRequestHandler.protocol_version = "HTTP/1.1"
        server = make_server("127.0.0.1", int(sys.argv[1]), named, threaded=True)
        print("LISTENING", server.port, flush=True)
        server.serve_forever()
        """

    /// Finds a python3 that has httpbin: those in PATH in order, Debian's last.
    private static func python() throws -> Program {
        for path in Program.candidates("python3") {
            let program = Program(path: path)
            if (try? program.run(["-c", "import httpbin, werkzeug.serving"])) != nil { return program }
        }
        throw TestServerError.missing(program: "httpbin for python3", package: "python3-httpbin")
    }
}
