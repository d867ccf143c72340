import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("Ready-made retry policies")
struct ReadyPoliciesTests {
    typealias FetchError = HTTPFetchError<HTTP.Response, any Error>

    private struct Broken: HTTPTransportError {
        let kind: HTTP.FailureKind
        var phase: HTTP.Phase? { nil }
    }

    private func metadata(
        _ method: HTTP.Method = .GET,
        headers: HTTP.Headers = [:],
        url: String = "http://a.test/",
        answer: HTTP.Headers? = nil
    ) throws -> Retry.Metadata<HTTP.Request, HTTP.Response> {
        let request = try HTTP.Request(method: method, url: url, headers: headers)
        let response = answer.map { HTTP.Response(status: 503, headers: $0, url: request.url) }
        return .init(request: request, payload: nil, response: response)
    }

    private func status(_ code: HTTP.StatusCode) throws -> FetchError {
        .http(code, nil, HTTP.Response(status: code, url: try #require(URL(string: "http://a.test/"))))
    }

    // MARK: Jitter

    @Test("Full jitter draws from the whole delay, equal jitter from its upper half")
    func jitter() throws {
        let (ranges, base) = (
            Lock<[ClosedRange<Double>]>([]), HTTPRetryPolicy.backoff(.constant(delay: 8, until: .maxRetries(1)))
        )
        let random: Retry.RandomSource = { range in
            ranges.withLock { $0.append(range) }
            return range.lowerBound + (range.upperBound - range.lowerBound) / 4
        }
        let error = try status(503)
        #expect(
            try base.jittered(random: random).shouldRetry(with: error, state: .init(), metadata: metadata()).summary
                == "retry after 2.0"
        )
        #expect(
            try base.jittered(.equal, random: random).shouldRetry(with: error, state: .init(), metadata: metadata())
                .summary
                == "retry after 5.0"
        )
        #expect(ranges.withLock { $0 } == [0...8, 4...8])
        #expect(
            try base.jittered().shouldRetry(with: error, state: .after(1), metadata: metadata()).summary
                == "no retry: 1 retries"
        )
    }

    @Test("Jitter never makes a delay of zero, so a limit of delay is reached")
    func jitterTakesTime() throws {
        let policy = HTTPRetryPolicy.backoff(.constant(delay: 8, until: .maxDelay(0.004))).jittered { $0.lowerBound }
        var (state, count) = (Retry.State(), 0)
        while case .retryAfter(let delay) = policy.shouldRetry(
            with: try status(503),
            state: state,
            metadata: try metadata()
        ) {
            state.delayed(by: delay)
            count += 1
            try #require(count < 100)
        }
        #expect((4...5).contains(count))
    }

    @Test("Jitter does not change an invalid delay", arguments: [0, -1, .infinity, .nan] as [Double])
    func jitterOfNothing(delay: Double) throws {
        let policies: [HTTPRetryPolicy] = [
            .backoff(.constant(delay: delay, until: .maxRetries(1))).jittered(),
            .decorrelatedJitter(baseDelay: delay, longest: 10, until: .maxRetries(1)),
            .decorrelatedJitter(baseDelay: 20, longest: delay, until: .maxRetries(1)),
        ]
        for policy in policies {
            let action = try policy.shouldRetry(with: status(503), state: .init(), metadata: metadata())
            #expect(action.summary == "retry after \(delay)")
        }
    }

    @Test("Decorrelated jitter draws from the base delay to three times the last one")
    func decorrelated() throws {
        let ranges = Lock<[ClosedRange<Double>]>([])
        let policy = HTTPRetryPolicy.decorrelatedJitter(baseDelay: 1, longest: 20, until: .maxRetries(4)) { range in
            ranges.withLock { $0.append(range) }
            return range.upperBound
        }
        var state = Retry.State()
        while case .retryAfter(let delay) = try policy.shouldRetry(
            with: status(503),
            state: state,
            metadata: metadata()
        ) {
            state.errors.append(try status(503))
            state.delayed(by: delay)
        }
        #expect(ranges.withLock { $0 } == [1...3, 1...9, 1...20, 1...20])
    }

    // MARK: Retry-After

    @Test("Retry-After lengthens a delay, ends retries above the limit, and makes no retry")
    func retryAfter() throws {
        let now = try #require(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT", now: .now))
        let rows: [(HTTPRetryPolicy, String?, String)] = [
            (.maxRetries(1), "7", "retry after 7.0"), (.maxRetries(1), "70", "no retry: 70.0 > 30.0"),
            (.maxRetries(1), "30", "retry after 30.0"), (.maxRetries(1), "30.001", "no retry: 30.001 > 30.0"),
            (.maxRetries(1), "99999999999999999999999", "no retry: 1e+23 > 30.0"), (.maxRetries(1), "0", "retry"),
            (.maxRetries(1), nil, "retry"), (.maxRetries(1), "soon", "retry"), (.maxRetries(1), "-3", "retry"),
            (.maxRetries(1), "1.5", "retry after 1.5"), (.maxRetries(1), "", "retry"),
            (.maxRetries(1), ", 7", "retry after 7.0"),
            (.maxRetries(1), "2.", "retry after 2.0"), (.maxRetries(1), ".5", "retry"),
            (.maxRetries(1), "1.5.5", "retry"),
            (.maxRetries(1), "+7", "retry"), (.maxRetries(1), "7 s", "retry"), (.maxRetries(1), "1e3", "retry"),
            (.maxRetries(1), "0x7", "retry"), (.maxRetries(1), ", ,\t", "retry"),
            (.maxRetries(1), "7, 7", "retry after 7.0"), (.maxRetries(1), "7 ,9", "retry after 7.0"),
            (.maxRetries(1), "Sun, 06 Nov 1994 08:49:47 GMT", "retry after 10.0"),
            (.maxRetries(1), "Sunday, 06-Nov-94 08:49:47 GMT", "retry after 10.0"),
            (.maxRetries(1), "Sun Nov  6 08:49:47 1994", "retry after 10.0"),
            (.maxRetries(1), "Sun, 06 Nov 1994 08:49:47 GMT, Sun, 06 Nov 1994 08:49:57 GMT", "retry after 10.0"),
            (.maxRetries(1), "Sun, 06 Nov 1994 08:49:47 GMT, 120", "retry after 10.0"),
            (.maxRetries(1), "Sun Nov  6 08:49:47 1994, Sun Nov  6 08:49:57 1994", "retry after 10.0"),
            (.maxRetries(1), "Sun, 06 Nov 1994 08:49:27 GMT", "retry"),
            (.maxRetries(1), "Sun, 06 Nov 1994 08:50:08 GMT", "no retry: 31.0 > 30.0"),
            (.backoff(.constant(delay: 5, until: .maxRetries(1))), "7", "retry after 7.0"),
            (.backoff(.constant(delay: 9, until: .maxRetries(1))), "7", "retry after 9.0"),
            (.backoff(.constant(delay: 90, until: .maxRetries(1))), "7", "retry after 90.0"),
            (.maxRetries(0), "7", "no retry: 0 retries"), (.custom { _, _, _ in .none }, "7", "none"),
        ]
        for (policy, value, expected) in rows {
            let answer: HTTP.Headers = value.map { [.retryAfter: $0] } ?? [:]
            let action = policy.respectingRetryAfter(upTo: 30, now: { now })
                .shouldRetry(with: try status(503), state: .init(), metadata: try metadata(answer: answer))
            var summary = action.summary
            if case .noRetry(.custom(let error as Retry.RetryAfterTooLong)) = action {
                summary = "no retry: \(error.delay) > \(error.limit)"
            }
            #expect(summary == expected, "Retry-After: \(value ?? "none")")
        }
        // A very long delay is still valid.
        let answer: HTTP.Headers = [.retryAfter: String(repeating: "9", count: 400)]
        let action = HTTPRetryPolicy.maxRetries(1).respectingRetryAfter(upTo: .infinity, now: { now })
            .shouldRetry(with: try status(503), state: .init(), metadata: try metadata(answer: answer))
        #expect(action.summary == "retry after \(Double.greatestFiniteMagnitude)")
    }

    @Test(
        "A zero or invalid limit ends the retries when the server requests a wait",
        arguments: [0, -1, .nan] as [Double]
    )
    func retryAfterNothing(limit: Double) throws {
        for (value, isRetried) in [("1", false), ("0", true), ("soon", true)] {
            let action = HTTPRetryPolicy.maxRetries(1).respectingRetryAfter(upTo: limit)
                .shouldRetry(
                    with: try status(503),
                    state: .init(),
                    metadata: try metadata(answer: [.retryAfter: value])
                )
            #expect((action.summary == "retry") == isRetried)
        }
    }

    @Test(
        "The standard policy waits for Retry-After or up to 1 s, and repeats no POST"
    )
    func standard() throws {
        let policy = HTTPRetryPolicy.standard
        for (count, longest) in [(0, 0.25), (1, 0.5), (2, 1)] {
            let action = try policy.shouldRetry(with: status(503), state: .after(count), metadata: metadata())
            guard case .retryAfter(let delay) = action else { throw CancellationError() }
            #expect(delay > 0 && delay <= longest)
        }
        let last = try policy.shouldRetry(with: status(503), state: .after(3), metadata: metadata())
        #expect(last.summary == "no retry: 3 retries")
        let asked = try metadata(answer: [.retryAfter: "60"])
        #expect(
            policy.shouldRetry(with: try status(503), state: .init(), metadata: asked).summary == "retry after 60.0"
        )
        #expect(try policy.shouldRetry(with: status(404), state: .init(), metadata: metadata()).summary == "none")
        #expect(try policy.shouldRetry(with: status(503), state: .init(), metadata: metadata(.POST)).summary == "none")
    }

    @Test("The standard policy with other numbers keeps its rules")
    func standardWithOtherNumbers() throws {
        let policy = HTTPRetryPolicy.standard(maxRetries: 5, baseDelay: .milliseconds(100))
        func vote(after count: Int, _ code: HTTP.StatusCode = 503, _ method: HTTP.Method = .GET) throws -> Retry.Action
        {
            try policy.shouldRetry(with: status(code), state: .after(count), metadata: metadata(method))
        }
        guard case .retryAfter(let delay) = try vote(after: 4) else { throw CancellationError() }
        #expect(delay > 0 && delay <= 1.6)
        #expect(try vote(after: 5).summary == "no retry: 5 retries")
        #expect(try vote(after: 0, 404).summary == "none")
        #expect(try vote(after: 0, 503, .POST).summary == "none")
        let none = HTTPRetryPolicy.standard(maxRetries: 0)
        let action = try none.shouldRetry(with: status(503), state: .init(), metadata: metadata())
        #expect(action.summary == "no retry: 0 retries")
    }

    // MARK: Safety

    @Test("A repeat is safe with an idempotent method, a key, or an unsent request")
    func safety() throws {
        let policy = HTTPRetryPolicy.maxRetries(1).whenSafe()
        func vote(_ metadata: Retry.Metadata<HTTP.Request, HTTP.Response>, _ error: FetchError) -> String {
            policy.shouldRetry(with: error, state: .init(), metadata: metadata).summary
        }
        for method: HTTP.Method in [.GET, .HEAD, .PUT, .DELETE, .OPTIONS, .TRACE] {
            #expect(vote(try metadata(method), try status(503)) == "retry")
        }
        for method: HTTP.Method in [.POST, .PATCH, "LOCK"] {
            #expect(vote(try metadata(method), try status(503)) == "none")
            #expect(vote(try metadata(method, headers: ["idempotency-key": "\"1\""]), try status(503)) == "retry")
            #expect(vote(try metadata(method, headers: [.idempotencyKey: ""]), try status(503)) == "none")
            for kind: HTTP.FailureKind in [.dns, .connect] {
                #expect(vote(try metadata(method), .transport(Broken(kind: kind))) == "retry")
            }
            for kind: HTTP.FailureKind in [.send, .receive, .empty, .tls, .truncated] {
                #expect(vote(try metadata(method), .transport(Broken(kind: kind))) == "none")
            }
            #expect(vote(try metadata(method), .timedOut(.connect, during: .connecting)) == "retry")
            #expect(vote(try metadata(method), .timedOut(.idle, during: .waiting)) == "none")
        }
        #expect(vote(.init(request: nil, payload: nil, response: nil), .noRequest(CancellationError())) == "none")
    }

    @Test("Temporary and permanent failures are distinguished")
    func transient() throws {
        let policy = HTTPRetryPolicy.maxRetries(1).whenTransient()
        func passes(_ error: any Error) throws -> Bool {
            try policy.shouldRetry(with: error, state: .init(), metadata: metadata()).summary == "retry"
        }
        for code: HTTP.StatusCode in [408, 425, 429, 500, 502, 503, 504] { #expect(try passes(try status(code))) }
        for code: HTTP.StatusCode in [301, 400, 401, 403, 404, 409, 501, 505] { #expect(try !passes(try status(code))) }
        for kind: HTTP.FailureKind in [.dns, .connect, .send, .receive, .truncated, .empty, .proxy] {
            #expect(try passes(FetchError.transport(Broken(kind: kind))))
        }
        for kind: HTTP.FailureKind in [.tls, .malformed, .decoding, .other] {
            #expect(try !passes(FetchError.transport(Broken(kind: kind))))
        }
        #expect(try passes(FetchError.timedOut(.firstByte, during: .waiting)))
        #expect(try !passes(FetchError.tooManyRedirects(limit: 1)))
        #expect(try !passes(FetchError.noRequest(CancellationError())))
        #expect(try !passes(FetchError.cancelled))
        #expect(try !passes(CancellationError()))
    }
}
