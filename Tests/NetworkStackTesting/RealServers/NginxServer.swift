import Foundation
import Glibc

/// nginx on 127.0.0.1 with three ports: plain HTTP/1.1, TLS with HTTP/1.1 and HTTP/2, and HTTP/2 without TLS.
///
/// | path | answer |
/// |---|---|
/// | `/json`, `/text`, `/bytes/{0,1k,64k,1m}` | the files of `ServedFiles`, with ETag and ranges |
/// | `/gzip/...` | the same files, gzip-coded when the client takes it |
/// | `/basic/...` | the same files for the user `anna` with the password `sésam` (Basic), 401 for others |
/// | `/slow/...` | the same files at 16 KiB a second |
/// | `/echo...` | 200, `<method> <uri> <protocol> <X-Echo field>` |
/// | `/redirect/{301,302,303,307,308}` | that status, Location: `/json` |
/// | `/status/<code>` | that status, for the codes in `NginxConfiguration.statusCodes` |
/// | PUT `/upload/<name>` | 201 or 204, the file is kept: `uploadedFile` |
public final class NginxServer: Sendable {
    /// How nginx is configured.
    public struct Options: Sendable {
        /// Requests per connection before nginx ends it (HTTP/2: GOAWAY).
        public var keepaliveRequests = 100_000
        /// Seconds for which an idle connection is kept.
        public var keepaliveTimeout = 75
        /// SETTINGS_MAX_CONCURRENT_STREAMS.
        public var maxConcurrentStreams = 128
        /// The certificate; nil: `TestCertificates.shared().server`.
        public var identity: TLSIdentity?
        /// Further directives for the `server` block.
        public var directives = ""

        /// The defaults.
        public init() {}
    }

    private let options: Options
    private let process: ServerProcess

    /// Makes the directory; nothing runs yet.
    ///
    /// Throws `SystemCallError`.
    public init(_ options: Options = Options()) throws {
        self.options = options
        process = try ServerProcess("nginx", servesFiles: true)
    }

    /// Starts nginx and returns when it accepts connections; after `stop()`, on the same ports again.
    ///
    /// Throws `TestServerError`: nginx is missing (with the package to install) or does not start (with its log).
    public func start() async throws {
        let program = try Program("nginx", package: "nginx")
        let identity = try options.identity ?? TestCertificates.shared().server
        let folder = process.folder
        try folder.write("uploads/.keep", "")
        try folder.write("users", "anna:{PLAIN}sésam\n")
        // nginx begins to listen on one address after the other.
        try await process.start(portCount: 3, unixSockets: [.path(unixSocketPath)]) { ports in
            // An nginx that was killed, or found a port in use, leaves its socket behind, which the next one would report as in
            // use.
            unlink(unixSocketPath)
            let configuration = NginxConfiguration(
                options: options,
                identity: identity,
                folder: folder.path,
                ports: ports
            )
            let file = try folder.write("nginx.conf", configuration.text)
            return .init(program: program, arguments: ["-p", folder.path, "-c", file, "-e", "stderr"])
        }
    }

    /// Kills nginx at once: clients see their connections break.
    public func stop() { process.stop() }

    /// The port of plain HTTP/1.1; 0 before the first start.
    public var httpPort: UInt16 { process.ports.first ?? 0 }
    /// The port of TLS with ALPN `h2` and `http/1.1`; 0 before the first start.
    public var httpsPort: UInt16 { process.ports.dropFirst().first ?? 0 }
    /// The port of HTTP/2 without TLS (prior knowledge only); 0 before the first start.
    public var cleartextHTTP2Port: UInt16 { process.ports.dropFirst(2).first ?? 0 }

    /// A Unix socket with plain HTTP/1.1.
    public var unixSocketPath: String { process.folder.file("http.sock") }

    /// A URL on the plain port.
    public func httpURL(_ path: String) -> String { "http://127.0.0.1:\(httpPort)\(path)" }
    /// A URL on the TLS port. The certificate is valid for `localhost`, `127.0.0.1`, `a.test` and `b.test`.
    public func httpsURL(_ path: String, host: String = "localhost") -> String { "https://\(host):\(httpsPort)\(path)" }
    /// A URL on the port of HTTP/2 without TLS.
    public func cleartextHTTP2URL(_ path: String) -> String { "http://127.0.0.1:\(cleartextHTTP2Port)\(path)" }

    /// The requests that nginx has finished, in the order in which they ended.
    ///
    /// nginx writes a line when it has finished a request, which may be after the client has its response: see `waitForLog`.
    /// Throws `DecodingError` on a line in another format than that of `NginxConfiguration`.
    public func accessLog() throws -> [AccessLogEntry] {
        guard let data = WrittenFile(path: process.folder.file("access.log")).bytes else { return [] }
        // A line without its end is still being written.
        let whole = data.prefix((data.lastIndex(of: 10) ?? -1) + 1)
        return try whole.split(separator: 10).map { try JSONDecoder().decode(AccessLogEntry.self, from: Data($0)) }
    }

    /// Suspends until the access log satisfies the condition and returns it; throws `WaitTimedOut` after `limit`.
    @discardableResult
    public func waitForLog(
        within limit: Duration = .seconds(10),
        _ condition: ([AccessLogEntry]) -> Bool
    ) async throws -> [AccessLogEntry] {
        try await process.wait(within: limit, for: { try accessLog() }, until: condition)
    }

    /// nginx's error log since its last start.
    public var errorLog: String { process.output }

    /// The body of a PUT to `/upload/<name>`; `nil` if there is none.
    public func uploadedFile(_ name: String) -> [UInt8]? {
        WrittenFile(path: process.folder.file("uploads/upload/\(name)")).bytes
    }
}
