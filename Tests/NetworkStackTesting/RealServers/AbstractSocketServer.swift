import Glibc
import NetworkStack

/// Python's HTTP server on a Unix socket in Linux's abstract namespace. It answers every GET with its path.
public final class AbstractSocketServer: Sendable {
    /// The name, without its leading zero byte.
    public let name: String
    private let process: ServerProcess
    private static let count = Lock(0)

    /// Makes the directory; nothing runs yet.
    ///
    /// Throws `SystemCallError`.
    public init() throws {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        name = "networkstack-\(getpid())-\(number)"
        process = try ServerProcess("abstract-socket")
    }

    /// Starts the server and returns when it accepts connections.
    ///
    /// Throws `TestServerError`: python3 is missing, or the server does not start.
    public func start() async throws {
        let launch = ServerProcess.Launch(
            program: try Program("python3", package: "python3"),
            arguments: ["-c", Self.server, name]
        )
        try await process.run(launch, within: .seconds(15)) { process.output.contains("LISTENING") }
    }

    private static let server = """
        import socket, socketserver, sys
        from http.server import BaseHTTPRequestHandler
        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def address_string(self): return "peer"
            def do_GET(self):
                body = (self.headers["Host"] + self.path).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
        server = Server("\\0" + sys.argv[1], Handler)
        print("LISTENING", flush=True)
        server.serve_forever()
        """
}
