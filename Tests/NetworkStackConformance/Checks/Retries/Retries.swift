import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// When a failed attempt is retried, and when not.
    static let retries: [ConformanceCheck] =
        retryRows + retryVotes + retryCancels + retryBodies + retriesAtWork + retriesTimed

    /// A policy, and its result with a server that always fails.
    private struct Row: Sendable {
        let name: String
        let policy: HTTPRetryPolicy
        var delays: [Double] = []
        let attempts: Int
        let reason: String
    }

    private static let rows: [Row] = [
        Row(name: "maxRetries(3)", policy: .maxRetries(3), attempts: 4, reason: "retries(3)"),
        Row(name: "maxRetries(0)", policy: .maxRetries(0), attempts: 1, reason: "retries(0)"),
        Row(
            name: "a constant backoff until maxRetries",
            policy: .backoff(.constant(delay: 5, until: .maxRetries(2))),
            delays: [5, 5],
            attempts: 3,
            reason: "retries(2)"
        ),
        Row(
            name: "a constant backoff until maxDelay",
            policy: .backoff(.constant(delay: 0.3, until: .maxDelay(0.4))),
            delays: [0.3, 0.3],
            attempts: 3,
            reason: "delay(0.4)"
        ),
        Row(
            name: "an exponential backoff until maxRetries",
            policy: .backoff(.exponential(baseDelay: 2, scale: { $0 * Double($1 * $1) }, until: .maxRetries(3))),
            delays: [2, 8, 18],
            attempts: 4,
            reason: "retries(3)"
        ),
        Row(
            name: "an exponential backoff until maxDelay",
            policy: .backoff(.exponential(baseDelay: 0.1, scale: { $0 * Double($1) }, until: .maxDelay(0.4))),
            delays: [0.1, 0.2, 0.1 * 3],
            attempts: 4,
            reason: "delay(0.4)"
        ),
        Row(
            name: "an exponential backoff with limited delay",
            policy: .backoff(.exponential(baseDelay: 3, scale: { $0 * Double($1) }, until: .maxDelay(5))),
            delays: [3, 5],
            attempts: 3,
            reason: "delay(5.0)"
        ),
        Row(
            name: "a rule",
            policy: .custom { _, state, _ in
                switch state.retryCount {
                case 0: .retry
                case 1: .retryAfter(7)
                default: .noRetry(.retries(42))
                }
            },
            delays: [7],
            attempts: 3,
            reason: "retries(42)"
        ),
    ]

    private static let retryRows: [ConformanceCheck] = rows.map { row in
        ConformanceCheck("A policy of \(row.name) makes \(row.attempts) attempts") { subject in
            let (clock, peer) = (VirtualClock(keepsUp: true), try subject.serve { _ in .status(503) })
            let stack = try subject.stack { $0.retryClock = clock }
            let outcome = try await stack.observe(.intercepted(peer.url("/"), by: [row.policy])).onlyOutcome()
            let (reason, state) = try outcome.retryError()
            try expectEqual("\(reason)", row.reason, "the reason why the retries ended")
            try expectEqual(peer.requests().count, row.attempts, "requests on the wire")
            try expectEqual(state.errors.count, row.attempts, "errors in the state")
            try expectEqual(state.totalDelay, row.delays.reduce(0, +), "the total delay")
            try expectEqual(clock.sleeps, row.delays.map { .seconds($0) }, "the delays")
            guard case .failure(let error) = outcome else { return }
            try expectEqual(error.statusCode, 503, "the status of the last error")
            try expectEqual(error.response?.status, 503, "the response of the last error")
        }
    }

    private static let retryVotes: [ConformanceCheck] = [
        ConformanceCheck("A vote receives the earlier state, the failure and its response") {
            subject in
            let seen = EventLog()
            let peer = try subject.serve { _ in .status(500, "body", headers: [("X-A", "1")]) }
            let spy = Spy("spy").with {
                $0.vote = { event in
                    let own = (event.error as? any HTTPError)?.statusCode
                    let text = event.data.map { String(decoding: $0, as: UTF8.self) } ?? "none"
                    let target = event.request.map { "\($0.method)" } ?? "none"
                    seen.add(
                        "\(event.state.retryCount) \(event.state.errors.count) \(own.map(\.rawValue) ?? 0) \(text) \(target) "
                            + (event.response?.headers["X-A"] ?? "none")
                    )
                    return event.state.retryCount < 2 ? .retry : .none
                }
            }
            let outcome = try await subject.stack().observe(.intercepted(peer.url("/"), by: [spy])).onlyOutcome()
            guard case .failure(.http(500, _, _)) = outcome else {
                throw ConformanceFailure("Expected the error itself, saw \(outcome.summary)")
            }
            try expectEqual(seen.all, (0...2).map { "\($0) \($0) 500 body GET 1" }, "what the votes received")
        },
        ConformanceCheck("Every interceptor votes, and the resource's priority combines the votes") { subject in
            let (log, folds) = (EventLog(), EventLog())
            let peer = try subject.serve { _ in .status(500) }
            let spies = [Retry.Action.noRetry(.retries(1)), .retry, .none].enumerated().map { number, action in
                Spy("\(number)", log).with { $0.vote = { event in event.state.retryCount == 0 ? action : .none } }
            }
            @Sendable func name(_ action: Retry.Action) -> String {
                switch action {
                case .none: "none"
                case .retry: "retry"
                case .retryAfter: "later"
                case .noRetry: "no"
                }
            }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(peer.url("/"), by: spies) {
                first,
                second in
                folds.add("\(name(first)) \(name(second))")
                return second
            }
            _ = try await subject.stack().observe(resource).onlyOutcome()
            try expectEqual(folds.all, ["none no", "no retry", "retry none"], "the folds")
            try expectEqual(log.all.filter { $0.contains("fails") }.count, 3, "votes")
        },
        ConformanceCheck("noRetry beats retry, and the failure joins the state") { subject in
            struct Verdict: Error {}
            let peer = try subject.serve { _ in .status(500) }
            let refuse = Spy("refuse").with { $0.vote = { _ in .noRetry(.custom(Verdict())) } }
            let outcome = try await subject.stack().observe(
                .intercepted(peer.url("/"), by: [HTTPRetryPolicy.maxRetries(5), refuse])
            ).onlyOutcome()
            guard case (.custom(_ as Verdict), let state) = try outcome.retryError() else {
                throw ConformanceFailure("Expected the verdict of the second interceptor, saw \(outcome.summary)")
            }
            try expectEqual(state.errors.count, 1, "errors in the state")
            try expectEqual(peer.requests().count, 1, "requests on the wire")
        },
        ConformanceCheck("An impossible delay ends the fetch (upstream R7 and R8)") { subject in
            let peer = try subject.serve { _ in .status(500) }
            let stack = try subject.stack()
            for delay: Double in [0, -1, .nan, .infinity, -.infinity] {
                let policy = HTTPRetryPolicy.backoff(.constant(delay: delay, until: .maxDelay(1)))
                let outcome = try await stack.observe(.intercepted(peer.url("/"), by: [policy])).onlyOutcome()
                guard case (.custom(let error as Retry.InvalidDelay), let state) = try outcome.retryError() else {
                    throw ConformanceFailure("Expected InvalidDelay for \(delay), saw \(outcome.summary)")
                }
                try expect(error.delay == delay || error.delay.isNaN && delay.isNaN, "The delay is \(error.delay)")
                try expectEqual(state.totalDelay, 0, "the total delay")
            }
            try expectEqual(peer.requests().count, 5, "requests on the wire")
        },
        ConformanceCheck("Every attempt makes and authenticates its request afresh") { subject in
            let (count, peer) = (Lock(0), try subject.serve { $0.path == "/3" ? .ok($0["x-n"] ?? "") : .status(500) })
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: .init { handler in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    return handler(Result { try HTTP.Request(url: peer.url("/\(number)")) })
                },
                interceptors: [
                    HeaderInjector { ["X-N": "\($0.url.path())"] }, HTTPRetryPolicy.maxRetries(5),
                ]
            )
            try expectEqual(try await subject.stack().observe(resource).onlyOutcome().text(), "/3", "the body")
            try expectEqual(peer.requests().map(\.path), ["/1", "/2", "/3"], "what the server received")
        },
        ConformanceCheck("A request that could not be made can be retried (upstream R6)") { subject in
            let (count, peer) = (Lock(0), try subject.serve { .ok($0.path) })
            let request = try HTTP.Request(url: peer.url("/made"))
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: .init { handler in
                    let isFirst = count.withLock { count in
                        count += 1
                        return count == 1
                    }
                    return handler(isFirst ? .failure(CancellationError()) : .success(request))
                },
                interceptors: [HTTPRetryPolicy.maxRetries(1)]
            )
            try expectEqual(try await subject.stack().observe(resource).onlyOutcome().text(), "/made", "the body")
        },
        ConformanceCheck("Each fetch of a resource starts with an empty state") { subject in
            let peer = try subject.serve { _ in .status(500) }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                peer.url("/"),
                by: [HTTPRetryPolicy.maxRetries(2)]
            )
            let stack = try subject.stack()
            let observations = (1...10).map { _ in stack.observe(resource) }
            for observation in observations {
                try expectEqual(try await observation.onlyOutcome().retryError().1.errors.count, 3, "attempts")
            }
            try expectEqual(peer.requests().count, 30, "requests on the wire")
        },
    ]
}
