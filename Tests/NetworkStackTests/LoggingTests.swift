import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("The log")
struct LoggingTests {
    private typealias FetchError = HTTPFetchError<HTTP.Response, any Error>

    private static let secrets = [
        "s3cret", "dXNlcjpzM2NyZXQ=", "hunter2", "tok-99", "sess-1",
    ]

    private func request(body: HTTP.Body = .none) throws -> HTTP.Request {
        try HTTP.Request(
            method: .POST,
            url: "http://user:s3cret@a.test/path?key=hunter2#part",
            headers: [
                .authorization: "Basic dXNlcjpzM2NyZXQ=", .cookie: "sess-1", "X-Api-Key": "tok-99",
                .referer: "http://b.test/?x=hunter2", .accept: "text/plain",
            ],
            body: body
        )
    }

    private func response(_ status: HTTP.StatusCode, _ headers: HTTP.Headers = [:]) throws -> HTTP.Response {
        HTTP.Response(status: status, headers: headers, url: try request().url)
    }

    /// The log of a complete fetch: a request, then a failure with a body, then a success.
    private func log(
        _ level: LoggingInterceptor.Level,
        redaction: HTTP.Redaction = .init(headers: ["x-api-key"]),
        preview: Int = 512,
        body: HTTP.Body = .none,
        content: Data = Data("hello".utf8),
        headers: HTTP.Headers = [.setCookie: "sess-1", .location: "/next?k=hunter2"]
    ) throws -> [String] {
        let lines = Lock<[String]>([])
        let logging = LoggingInterceptor(level: level, redaction: redaction, previewLimit: preview) { entry in
            lines.withLock { $0 += "\(entry)".split(separator: "\n").map(String.init) }
        }
        let (request, state) = (try request(body: body), Retry.State.after(1))
        logging.interceptScheduledTask(withIdentifier: 7, request: request, retryState: state)
        let vote = logging.interceptFailedTask(
            withIdentifier: 7,
            request: request,
            data: content,
            response: try response(503, headers),
            error: FetchError.http(503, nil, try response(503, headers)),
            retryState: state
        )
        #expect(vote.summary == "none")
        logging.interceptSuccessfulTask(
            withIdentifier: 8,
            request: request,
            data: content,
            response: try response(200, headers),
            retryState: state
        )
        return lines.withLock { $0 }
    }

    @Test("Each level shows more than the one before")
    func levels() throws {
        let lines = try LoggingInterceptor.Level.allCases.map { try log($0, body: .bytes(Data("out".utf8))) }
        #expect(lines[0] == ["#7 <-- failed: status 503 http://a.test/path?… (HTTP/1.1, 5 bytes, 0.0 seconds)"])
        #expect(
            lines[1] == [
                "#7 --> POST http://a.test/path?… (attempt 2)", lines[0][0],
                "#8 <-- 200 http://a.test/path?… (HTTP/1.1, 5 bytes, 0.0 seconds)",
            ]
        )
        #expect(lines[2].contains("#7 Accept: text/plain"))
        #expect(lines[2].contains("#7 Location: /next?…"))
        #expect(!lines[2].contains("#7 hello"))
        #expect(lines[3].contains("#7 out") && lines[3].contains("#7 hello") && lines[3].contains("#8 hello"))
        for (less, more) in zip(lines, lines.dropFirst()) { #expect(less.allSatisfy(more.contains)) }
    }

    @Test("A streamed body that is incomplete has no length in the log")
    func streamed() throws {
        let lines = try log(.summary, content: Data())
        #expect(lines.last == "#8 <-- 200 http://a.test/path?… (HTTP/1.1, 0.0 seconds)")
    }

    @Test("A failure without a response is logged with its request, if there is one")
    func failuresWithoutResponse() throws {
        let lines = Lock<[String]>([])
        let logging = LoggingInterceptor(level: .failures) { entry in lines.withLock { $0.append("\(entry)") } }
        for request in [try request(), nil] {
            _ = logging.interceptFailedTask(
                withIdentifier: 7,
                request: request,
                data: nil,
                response: nil,
                error: FetchError.cancelled,
                retryState: Retry.State()
            )
        }
        #expect(
            lines.withLock { $0 } == ["#7 <-- failed: cancelled POST http://a.test/path?…", "#7 <-- failed: cancelled"]
        )
    }

    @Test("No level shows a secret")
    func redaction() throws {
        for level in LoggingInterceptor.Level.allCases {
            let text = try log(level).joined(separator: "\n")
            for secret in Self.secrets { #expect(!text.contains(secret), "\(level) shows \(secret)") }
        }
        let shown = try log(.summary, redaction: .init(showsQuery: true)).joined()
        #expect(shown.contains("path?key=hunter2") && !shown.contains("s3cret"))
    }

    @Test("An external error is logged by its type, which holds no secret")
    func foreignErrors() {
        struct Foreign: Error, CustomStringConvertible { let description = "hunter2" }
        struct Transported: HTTPTransportError, CustomStringConvertible {
            let kind = HTTP.FailureKind.receive
            let phase: HTTP.Phase? = .receiving
            let description = "http://a.test/?hunter2"
        }
        var state = Retry.State()
        state.errors = [FetchError.transport(Transported())]
        #expect(FetchError.noRequest(Foreign()).summary == "no request: Foreign")
        #expect(FetchError.transport(Foreign()).summary == "Foreign")
        #expect(FetchError.transport(Transported()).summary == "receive failed while receiving")
        #expect(FetchError.requestBody(Foreign()).summary == "the request's body could not be read")
        #expect(FetchError.interceptor(Foreign()).summary == "an interceptor failed")
        #expect(
            FetchError.retry(.custom(Foreign()), state).summary
                == "gave up after 1 attempt (Foreign), the last receive failed while receiving"
        )
        #expect(
            FetchError.retry(.retries(2), .after(2)).summary == "gave up after 2 attempts (2 retries at most)"
        )
        #expect(FetchError.cancelled.summary == "cancelled")
        #expect(FetchError.badResponse(nil).summary == "a response that is not HTTP")
    }

    @Test("A server's bytes cannot forge a line, or control a terminal")
    func escapes() throws {
        let content = Data("a\r\n#9 <-- 200\u{1B}[2J\u{202E}\u{2028}é\t".utf8)
        let lines = try log(.body, content: content, headers: ["X": "tab\there"])
        #expect(lines.allSatisfy { $0.hasPrefix("#7 ") || $0.hasPrefix("#8 ") })
        #expect(lines.contains("#7 a\\r\\n#9 <-- 200\\u{1b}[2J\\u{202e}\\u{2028}é\\t"))
        #expect(lines.contains("#7 X: tab\\there"))
    }

    @Test(
        "A preview ends at its limit, on a whole character, and shows no binary",
        arguments: [
            ("hello", 5, ["hello"]), ("hello", 4, ["hell", "(1 bytes more)"]), ("aé€", 2, ["a", "(5 bytes more)"]),
            ("aé€", 5, ["aé", "(3 bytes more)"]), ("hello", 0, ["(5 bytes)"]), ("", 9, []), ("a\0b", 9, ["(3 bytes)"]),
            ("€€", 2, ["(6 bytes)"]),
        ] as [(String, Int, [String])]
    )
    func previews(text: String, limit: Int, expected: [String]) {
        #expect(ContentPreview(limit: limit).lines(of: Data(text.utf8)) == expected)
    }

    @Test("Binary, files and streams are named, not shown")
    func named() {
        let preview = ContentPreview(limit: 9)
        #expect(preview.lines(of: Data([0xFF, 0xFE])) == ["(2 bytes)"])
        #expect(preview.lines(of: HTTP.Body.file(path: "/etc/passwd")) == ["(body from a file)"])
        let chunks = AsyncStream<Data> { $0.finish() }
        #expect(preview.lines(of: HTTP.Body.stream(.init(chunks, length: 3))) == ["(streamed body, 3 bytes)"])
    }
}
