import Foundation
import Testing

@testable import NetworkStack

private typealias FetchError = HTTPFetchError<HTTP.Response, any Error>

private struct Transported: HTTPTransportError {
    var kind: HTTP.FailureKind
    var phase: HTTP.Phase?
}

@Suite("The description of a fetch error")
struct FetchErrorTests {
    private let response: HTTP.Response

    init() throws {
        response = HTTP.Response(status: 503, url: try #require(URL(string: "http://host.test/")))
    }

    private func retried(_ errors: any Error...) -> FetchError {
        var state = Retry.State()
        state.errors = errors
        return .retry(.retries(errors.count), state)
    }

    @Test("its response and status, those of the last failure for a retry")
    func responses() {
        #expect(FetchError.http(503, nil, response).response == response)
        #expect(FetchError.http(503, nil, response).statusCode == 503)
        #expect(FetchError.noData(200, response).statusCode == 200)
        #expect(FetchError.badResponse(response).statusCode == 503)
        #expect(FetchError.badResponse(nil).response == nil)
        #expect(FetchError.cancelled.statusCode == nil)
        #expect(FetchError.shutDown.response == nil)
        #expect(retried(FetchError.cancelled, FetchError.http(503, nil, response)).statusCode == 503)
        #expect(retried(FetchError.http(503, nil, response), FetchError.cancelled).response == nil)
        #expect(retried().response == nil)
    }

    @Test("the API's error, that of the last failure for a retry, and the same for decoding")
    func apiErrors() {
        struct Problem: Error {}
        let failure = FetchError.http(503, Problem(), response)
        for error: any HTTPError in [failure, retried(failure), FetchAndDecodeError.fetch(failure)] {
            #expect(error.apiError is Problem)
        }
        for error: any HTTPError in [FetchError.http(503, nil, response), retried(failure, FetchError.cancelled)] {
            #expect(error.apiError == nil)
        }
    }

    @Test("the name of its case, that of the last failure for a retry")
    func names() {
        #expect(FetchError.timedOut(.idle, during: .waiting).caseName == "timedOut")
        #expect(FetchError.http(503, nil, response).caseName == "http")
        #expect(FetchError.cancelled.caseName == "cancelled")
        #expect(retried(FetchError.cancelled, FetchError.http(503, nil, response)).caseName == "http")
        #expect(retried().caseName == "retry")
        #expect(FetchAndDecodeError.fetch(FetchError.shutDown).caseName == "shutDown")
        #expect(FetchAndDecodeError<FetchError>.decode(Transported(kind: .other)).caseName == "undecodable")
    }

    @Test("the last error behind a retry")
    func lastErrors() {
        guard case .http(503, _, _)? = retried(FetchError.http(503, nil, response)).lastError as? FetchError else {
            Issue.record("It is not the last error")
            return
        }
        guard case .cancelled? = FetchError.cancelled.lastError as? FetchError else {
            Issue.record("It is not the error itself")
            return
        }
    }

    @Test("is the same for decoding, and decoding is not retried")
    func decodings() {
        typealias Decoding = FetchAndDecodeError<FetchError>
        let unavailable = Decoding.fetch(.http(503, nil, response))
        #expect(unavailable.statusCode == 503)
        #expect(unavailable.summary == "status 503")
        #expect(Retry.isTransient(unavailable))
        #expect(Decoding.fetch(.timedOut(.idle, during: .waiting)).isTimeout)
        #expect(Decoding.fetch(.transport(Transported(kind: .dns))).transportFailure == .dns)
        #expect(Decoding.fetch(.transport(Transported(kind: .connect, phase: .connecting))).isRetryable)
        #expect(Decoding.fetch(.cancelled).isFinal)
        #expect(!unavailable.isFinal)
        let secret = DecodingError.Context(codingPath: [], debugDescription: "secret")
        let undecodable = Decoding.decode(DecodingError.dataCorrupted(secret))
        #expect(undecodable.summary == "a body that cannot be decoded: DecodingError")
        #expect(undecodable.isFinal && !undecodable.isRetryable && !undecodable.isTimeout)
        #expect(undecodable.statusCode == nil && undecodable.transportFailure == nil)
        #expect(!Retry.isTransient(undecodable))
    }

    @Test("that end a stream are classified like those of its fetch")
    func streams() {
        let truncated = FetchError.transport(Transported(kind: .truncated, phase: .receiving))
        #expect(truncated.transportFailure == .truncated && Retry.isTransient(truncated))
        #expect(!truncated.isFinal && !truncated.isRetryable && truncated.statusCode == nil)
        #expect(truncated.summary == "truncated failed while receiving")
        let late = FetchError.timedOut(.idle, during: .receiving)
        #expect(late.isTimeout && Retry.isTransient(late))
        let unwritten = FetchError.localFile(FileError(path: "/secret", number: 28))
        #expect(unwritten.isFinal && !Retry.isTransient(unwritten))
        #expect(unwritten.summary == "a file that cannot be written, error 28")
        for final in [FetchError.cancelled, .concurrentRead] {
            #expect(final.isFinal && !Retry.isTransient(final))
        }
    }

    @Test("whether a server is untrusted, or a timeout fired")
    func pinsAndTimeouts() {
        let refused = FetchError.untrusted(.domainNotPinned(host: "a.test"))
        #expect(refused.isUntrusted && retried(refused).isUntrusted && FetchAndDecodeError.fetch(refused).isUntrusted)
        #expect(!FetchError.transport(Transported(kind: .tls)).isUntrusted)
        #expect(FetchError.timedOut(.idle, during: .waiting).isTimeout)
        #expect(retried(FetchError.timedOut(.total, during: .making)).isTimeout)
        #expect(!FetchError.shutDown.isTimeout)
        #expect(!FetchError.cancelled.isTimeout)
        #expect(!FetchError.http(504, nil, response).isTimeout)
    }

    @Test("whether the request provably never reached the server")
    func retryability() {
        for kind in [HTTP.FailureKind.dns, .connect] {
            #expect(FetchError.transport(Transported(kind: kind)).isRetryable)
        }
        for kind in [HTTP.FailureKind.send, .receive, .truncated, .empty, .malformed, .tls, .other] {
            #expect(!FetchError.transport(Transported(kind: kind)).isRetryable, "\(kind)")
        }
        #expect(!FetchError.transport(CancellationError()).isRetryable, "whether it reached the server is unknown")
        let before: Set<HTTP.Phase> = [.queued, .resolving, .connecting, .securing]
        for phase in HTTP.Phase.allCases where phase != .making {
            #expect(
                FetchError.timedOut(.total, during: phase).isRetryable == before.contains(phase),
                "\(phase)"
            )
        }
        #expect(!FetchError.cancelled.isRetryable)
        #expect(!FetchError.http(503, nil, response).isRetryable)
    }

    @Test("has the reason of the retry once")
    func retriedDescriptions() {
        let failures = (1...4).map { FetchError.transport(FileError(path: "/\($0)", number: 2)) }
        let text = "\(FetchError.retry(.retries(3), Retry.State(errors: failures)))"
        #expect(text.hasSuffix("(3 retries at most): /4: No such file or directory"), "\(text)")
        #expect("\(Retry.State(errors: [failures[0]]))" == "1 failure: /1: No such file or directory")
        #expect("\(Retry.State())" == "no failure")
    }

    @Test("no URL in its summary, wherever a redirect leads")
    func summaries() throws {
        let url = try #require(URL(string: "http://host.test/reset/s3cret"))
        let errors: [FetchError] = [.insecureRedirect(url), .invalidRedirect("app:s3cret")]
        for error in errors {
            let texts = [error, retried(error)].map(\.summary)
            for text in texts { #expect(!text.contains("s3cret") && !text.contains("host.test"), "\(text)") }
        }
    }

    @Test("the same in neutral terms")
    func erasure() {
        let errors: [FetchError] = [
            .noRequest(CancellationError()), .http(503, nil, response), .noData(204, response), .badResponse(nil),
            .transport(Transported(kind: .dns)), .shutDown, .retry(.retries(1), .init()), .cancelled,
        ]
        for error in errors { #expect("\(error.erased)" == "\(error)") }
    }
}

@Suite("Options and configurations")
struct OptionsTests {
    private func isRefused(_ change: (inout HTTP.Options) -> Void) -> Bool {
        var options = HTTP.Options()
        change(&options)
        do { try options.validate() } catch {
            return error.reason.hasSuffix(".")
        }
        return false
    }

    @Test("the defaults are valid")
    func defaults() throws {
        try HTTP.Options().validate()
        try Network.Configuration().validate()
        #expect(HTTP.Options().timeouts.idle == .seconds(60))
        #expect(HTTP.Options().redirects.limit == 20)
    }

    @Test("every timeout must be longer than zero", arguments: [Duration.zero, .milliseconds(-1)])
    func clocks(_ wrong: Duration) {
        #expect(isRefused { $0.timeouts.queue = wrong })
        #expect(isRefused { $0.timeouts.connect = wrong })
        #expect(isRefused { $0.timeouts.firstByte = wrong })
        #expect(isRefused { $0.timeouts.idle = wrong })
        #expect(isRefused { $0.timeouts.total = wrong })
        #expect(!isRefused { $0.timeouts.total = .nanoseconds(1) })
    }

    @Test("every limit has its bounds")
    func limits() {
        #expect(isRefused { $0.redirects.limit = -1 })
        #expect(isRefused { $0.redirects.limit = 101 })
        #expect(!isRefused { $0.redirects.limit = 0 })
        #expect(!isRefused { $0.redirects.limit = 100 })
        #expect(isRefused { $0.limits.body = -1 })
        #expect(!isRefused { $0.limits.body = 0 })
        #expect(isRefused { $0.limits.head = 0 })
        #expect(isRefused { $0.limits.headFields = 0 })
    }

    @Test("an invalid configuration is refused")
    func configurations() {
        let changes: [(inout Network.Configuration) -> Void] = [
            { $0.connections.perHost = 0 }, { $0.connections.total = 0 }, { $0.connections.streamsPerConnection = 0 },
            { $0.connections.idleAge = .zero }, { $0.userAgent = "a\r\nb" }, { $0.options.timeouts.idle = .zero },
        ]
        for (index, change) in changes.enumerated() {
            var configuration = Network.Configuration()
            change(&configuration)
            #expect(throws: HTTP.InvalidValue.self, "change \(index)") { try configuration.validate() }
        }
    }

    @Test("a success may lack a body by its status, by its method, or always")
    func emptySuccesses() {
        var options = HTTP.Options()
        #expect(options.allowsEmptyBody(status: 204, method: .GET))
        #expect(options.allowsEmptyBody(status: 205, method: .POST))
        #expect(options.allowsEmptyBody(status: 200, method: .HEAD))
        #expect(!options.allowsEmptyBody(status: 200, method: .GET))
        options.allowsEmptyBody = true
        #expect(options.allowsEmptyBody(status: 200, method: .GET))
    }

    @Test("a capability is supported unless a reason is given")
    func capabilities() throws {
        let capabilities = HTTP.Capabilities(unsupported: [.http2: "Not built in."])
        #expect(capabilities.supports(.trailers))
        #expect(!capabilities.supports(.http2))
        #expect(capabilities.reason(against: .http2) == "Not built in.")
        try capabilities.require(.trailers)
        #expect {
            try capabilities.require(.http2)
        } throws: {
            if case Network.ConfigurationError.unsupported(.http2, reason: "Not built in.") = $0 { true } else { false }
        }
        #expect(capabilities.description == "without HTTP/2: Not built in.")
        #expect(
            "\(Network.ConfigurationError.unsupported(.clientCertificates, reason: "Not built in."))"
                == "This stack does not support client certificates here: Not built in."
        )
    }
}

@Suite("The vocabulary")
struct VocabularyTests {
    @Test(
        "a status has the class of its first digit",
        arguments: [
            (99, HTTP.StatusCode.Class.unknown), (100, .informational), (199, .informational), (200, .success),
            (299, .success),
            (300, .redirection), (404, .clientError), (599, .serverError), (600, .unknown), (999, .unknown),
            (0, .unknown),
        ]
    )
    func statuses(_ code: Int, _ expected: HTTP.StatusCode.Class) {
        #expect(HTTP.StatusCode(code).statusClass == expected)
    }

    @Test("methods are case-sensitive, and know whether they can be repeated")
    func methods() {
        #expect(HTTP.Method.GET != "get")
        #expect(HTTP.Method.PUT.isIdempotent && HTTP.Method.DELETE.isIdempotent && HTTP.Method.HEAD.isSafe)
        #expect(!HTTP.Method.POST.isIdempotent && !HTTP.Method.PATCH.isIdempotent && !HTTP.Method.PUT.isSafe)
    }

    @Test("a value's payload can be replaced, and its response stays")
    func mapping() throws {
        let mapped = Network.Value(value: 20, response: "r").mapValue { value, response in "\(value)\(response)" }
        #expect(mapped.value == "20r")
        #expect(mapped.response == "r")
        let sum = Network.Value(value: 20, response: 1).mapValue { (value: Int, response: Int) in value + response }
        #expect(sum.value == 21)
        #expect(throws: CancellationError.self) {
            try Network.Value(value: 1, response: 2).mapValue { (_, _) throws -> Int in throw CancellationError() }
        }
    }

    @Test("versions read as they are written")
    func versions() {
        #expect(
            [HTTP.Version.http1_0, .http1_1, .http2, .http3].map(\.description) == [
                "HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3",
            ]
        )
    }
}
