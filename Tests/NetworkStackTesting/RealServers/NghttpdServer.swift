/// nghttpd, nghttp2's HTTP/2 server, on 127.0.0.1: over TLS (ALPN `h2`), or without TLS for prior knowledge.
///
/// It serves the files of `ServedFiles` at `/json`, `/text` and `/bytes/{0,1k,64k,1m}`, and logs every frame.
public final class NghttpdServer: Sendable {
    /// How nghttpd is started.
    public struct Options: Sendable {
        /// Whether TLS is used; if not, HTTP/2 without TLS.
        public var usesTLS = true
        /// The certificate; nil: `TestCertificates.shared().server`.
        public var identity: TLSIdentity?
        /// SETTINGS_MAX_CONCURRENT_STREAMS; nil: nghttpd's default (100).
        public var maxConcurrentStreams: Int?
        /// Trailers of every response that has a body.
        public var trailers: [(name: String, value: String)] = []
        /// Whether to answer after the request's head, before its body.
        public var respondsEarly = false
        /// Whether POST and PUT are answered with the request's body.
        public var echoesUploads = false
        /// Whether responses carry Content-Length.
        public var sendsContentLength = true
        /// Further command line options.
        public var arguments: [String] = []

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
        process = try ServerProcess("nghttpd", servesFiles: true)
    }

    /// Starts nghttpd and returns when it accepts connections; after `stop()`, on the same port again.
    ///
    /// Throws `TestServerError`: nghttpd is missing (with the package to install) or does not start (with its log).
    public func start() async throws {
        let program = try Program("nghttpd", package: "nghttp2-server")
        let identity = options.usesTLS ? try options.identity ?? TestCertificates.shared().server : nil
        var arguments = ["-v", "-a", "127.0.0.1", "-d", process.folder.file("files")] + options.arguments
        if let count = options.maxConcurrentStreams { arguments += ["-m", String(count)] }
        for trailer in options.trailers { arguments += ["--trailer", "\(trailer.name): \(trailer.value)"] }
        if options.respondsEarly { arguments.append("--early-response") }
        if options.echoesUploads { arguments.append("--echo-upload") }
        if !options.sendsContentLength { arguments.append("--no-content-length") }
        if identity == nil { arguments.append("--no-tls") }
        let files = identity.map { [$0.keyFile, $0.certificateChainFile] } ?? []
        try await process.start(portCount: 1) { [arguments] ports in
            .init(program: program, arguments: arguments + [String(ports[0])] + files)
        }
    }

    /// Kills nghttpd at once: clients see their connections break.
    public func stop() { process.stop() }

    /// The port; 0 before the first start.
    public var port: UInt16 { process.ports.first ?? 0 }

    /// A URL on this server.
    public func url(_ path: String, host: String = "localhost") -> String {
        options.usesTLS ? "https://\(host):\(port)\(path)" : "http://127.0.0.1:\(port)\(path)"
    }

    /// Every frame since the last start, in the order of nghttpd's log. The connection that checks readiness has no frames,
    /// except nghttpd's SETTINGS.
    public var frames: [LoggedFrame] { LoggedFrame.parse(process.output) }

    /// Suspends until the frames satisfy the condition and returns them; throws `WaitTimedOut` after `limit`.
    @discardableResult
    public func waitForFrames(
        within limit: Duration = .seconds(10),
        _ condition: ([LoggedFrame]) -> Bool
    ) async throws -> [LoggedFrame] {
        try await process.wait(within: limit, for: { frames }, until: condition)
    }

    /// nghttpd's output since its last start.
    public var log: String { process.output }
}
