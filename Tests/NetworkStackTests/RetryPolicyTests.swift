import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

private struct Failure: Error, Equatable { var number = 0 }

extension Retry.State {
    /// A state after so many failures.
    static func after(_ failures: Int, delay: Retry.Delay = 0) -> Retry.State {
        Retry.State(errors: (0..<failures).map { Failure(number: $0) }, delays: [delay])
    }
}

extension Retry.Action {
    /// The action as text, to compare.
    var summary: String {
        switch self {
        case .none: "none"
        case .retry: "retry"
        case .retryAfter(let delay): "retry after \(delay)"
        case .noRetry(.retries(let limit)): "no retry: \(limit) retries"
        case .noRetry(.delay(let limit)): "no retry: \(limit) s"
        case .noRetry(.custom(let error)): "no retry: \(error)"
        }
    }
}

@Suite("Retry policies")
struct RetryPolicyTests {
    typealias Policy = Retry.Policy<Int>

    private func vote(_ policy: Policy, _ state: Retry.State, metadata: Int = 0) -> String {
        policy.shouldRetry(with: Failure(), state: state, metadata: metadata).summary
    }

    /// A scale that must not be called.
    private let never: Retry.Backoff.Scale = { _, _ in
        Issue.record("The scale was called after the limit was reached")
        return 0
    }

    @Test("After the last retry there is no other, and no scale is called", arguments: [3, 4])
    func retriesExceeded(failures: Int) {
        for policy: Policy in [
            .maxRetries(3), .backoff(.constant(delay: 1, until: .maxRetries(3))),
            .backoff(.exponential(baseDelay: 1, scale: never, until: .maxRetries(3))),
        ] {
            #expect(vote(policy, .after(failures)) == "no retry: 3 retries")
        }
    }

    @Test("After the longest delay there is no other retry, and no scale is called", arguments: [0.4, 0.5])
    func delayExceeded(total: Double) {
        for policy: Policy in [
            .backoff(.constant(delay: 1, until: .maxDelay(0.4))),
            .backoff(.exponential(baseDelay: 1, scale: never, until: .maxDelay(0.4))),
        ] {
            #expect(vote(policy, .after(1, delay: total)) == "no retry: 0.4 s")
        }
    }

    @Test("Before that, each policy votes as its row requires")
    func rows() {
        #expect(vote(.maxRetries(3), .after(2)) == "retry")
        #expect(vote(.backoff(.constant(delay: 0.3, until: .maxRetries(3))), .after(2)) == "retry after 0.3")
        // Not shortened to the remaining time.
        #expect(
            vote(.backoff(.constant(delay: 0.3, until: .maxDelay(0.4))), .after(1, delay: 0.3)) == "retry after 0.3"
        )
        let doubled: Retry.Backoff.Scale = { $0 * Double($1) * 2 }
        #expect(
            vote(.backoff(.exponential(baseDelay: 1, scale: doubled, until: .maxRetries(9))), .after(2))
                == "retry after 6.0"
        )
        #expect(
            vote(.backoff(.exponential(baseDelay: 1, scale: doubled, until: .maxDelay(5))), .after(1))
                == "retry after 4.0"
        )
        // Shortened to the longest delay, not to its remaining part.
        #expect(
            vote(.backoff(.exponential(baseDelay: 1, scale: doubled, until: .maxDelay(5))), .after(2, delay: 4))
                == "retry after 5.0"
        )
    }

    @Test("An exponential backoff doubles by default, and takes durations")
    func doubling() {
        for policy: Policy in [
            .backoff(.exponential(baseDelay: 0.2, until: .maxRetries(4))),
            .backoff(.exponential(baseDelay: .milliseconds(200), until: .maxRetries(4))),
        ] {
            let votes = (0..<4).map { vote(policy, .after($0)) }
            #expect(votes == ["retry after 0.2", "retry after 0.4", "retry after 0.8", "retry after 1.6"])
        }
        let constant = Policy.backoff(.constant(delay: .milliseconds(1500), until: .maxDelay(.seconds(3))))
        #expect(vote(constant, .after(1, delay: 2)) == "retry after 1.5")
        #expect(vote(constant, .after(2, delay: 3)) == "no retry: 3.0 s")
    }

    @Test("With no retry or no delay allowed, there is none", arguments: [0, -1])
    func nothingAllowed(limit: Int) {
        #expect(vote(.maxRetries(limit), .after(0)) == "no retry: \(limit) retries")
        #expect(vote(.backoff(.constant(delay: 1, until: .maxDelay(Double(limit)))), .after(0)).hasPrefix("no retry"))
    }

    @Test("A rule receives all parameters, and its vote is used")
    func rule() {
        for action: Retry.Action in [.none, .retry, .retryAfter(3), .noRetry(.custom(Failure(number: 7)))] {
            let policy = Policy.custom { error, state, metadata in
                #expect(error as? Failure == Failure())
                #expect(state.errors as? [Failure] == [Failure(number: 0), Failure(number: 1)])
                #expect(state.totalDelay == 2)
                #expect(metadata == 42)
                return action
            }
            #expect(vote(policy, .after(2, delay: 2), metadata: 42) == action.summary)
        }
    }

    @Test("A constant delay of zero does not loop: the engine rejects it as invalid")
    func zeroDelay() {
        #expect(vote(.backoff(.constant(delay: 0, until: .maxDelay(1))), .after(0)) == "retry after 0.0")
    }

    @Test("A condition narrows a policy")
    func condition() {
        let policy = Policy.maxRetries(2).when { _, _, metadata in metadata == 1 }
        #expect(vote(policy, .after(0), metadata: 1) == "retry")
        #expect(vote(policy, .after(2), metadata: 1) == "no retry: 2 retries")
        #expect(vote(policy, .after(0), metadata: 2) == "none")
    }

    @Test("An exponential backoff of 0.1, 0.2, 0.3 makes four attempts until 0.4 s")
    func vector() {
        let policy = Policy.backoff(
            .exponential(baseDelay: 0.1, scale: { $0 * Double($1) }, until: .maxDelay(0.4))
        )
        var (state, delays) = (Retry.State(), [Double]())
        while case .retryAfter(let delay) = policy.shouldRetry(with: Failure(), state: state, metadata: 0) {
            delays.append(delay)
            state.errors.append(Failure())
            state.delayed(by: delay)
        }
        let third = 0.1 * 3
        #expect(delays == [0.1, 0.2, third])
        #expect(vote(policy, state) == "no retry: 0.4 s")
        #expect(state.attemptCount == 4)
    }

    @Test("A state counts its errors, and has its delays")
    func state() {
        var state = Retry.State()
        #expect(state.errors.isEmpty && state.totalDelay == 0 && state.lastDelay == 0)
        #expect((state.retryCount, state.attemptCount) == (0, 1))
        state.errors.append(Failure())
        state.delayed(by: 2)
        state.delayed(by: 3)
        #expect((state.retryCount, state.attemptCount, state.lastDelay) == (1, 2, 3))
    }

    @Test("A state made for a test equals one of a fetch", arguments: [false, true])
    func madeState(mayHaveArrived: Bool) {
        var state = Retry.State(errors: [Failure()], delays: [1, 0.5], requestMayHaveArrived: mayHaveArrived)
        #expect((state.retryCount, state.totalDelay, state.lastDelay) == (1, 1.5, 0.5))
        #expect(state.requestMayHaveArrived == mayHaveArrived)
        state.delayed(by: 4)
        #expect(state.requestMayHaveArrived == mayHaveArrived)
        state.requestMayHaveArrived = !mayHaveArrived
        #expect((state.lastDelay, state.requestMayHaveArrived) == (4, !mayHaveArrived))
    }

    @Test("The vote with the higher priority counts")
    func priority() {
        let (first, second) = (
            Retry.Action.noRetry(.retries(1)), Retry.Action.noRetry(.retries(2))
        )
        let rows: [(Retry.Action, Retry.Action, String)] = [
            (.none, .none, "none"), (.none, .retry, "retry"), (.none, .retryAfter(1), "retry after 1.0"),
            (.none, first, first.summary), (.retry, .none, "retry"), (.retry, .retry, "retry"),
            (.retry, .retryAfter(1), "retry after 1.0"), (.retry, first, first.summary),
            (.retryAfter(1), .none, "retry after 1.0"), (.retryAfter(1), .retry, "retry after 1.0"),
            (.retryAfter(1), .retryAfter(2), "retry after 2.0"), (.retryAfter(2), .retryAfter(1), "retry after 2.0"),
            (.retryAfter(1), first, first.summary), (first, .none, first.summary), (first, .retry, first.summary),
            (first, .retryAfter(9), first.summary), (first, second, first.summary), (second, first, second.summary),
        ]
        for (left, right, winner) in rows { #expect(Retry.Action.mostPrioritary(left, right).summary == winner) }
    }

    @Test("A policy receives the last delay")
    func lastDelays() async throws {
        let mock = try MockNetworkStack(clock: VirtualClock(keepsUp: true))
        mock.answer(.GET, "/", with: .status(.serviceUnavailable))
        let received = Lock<[Retry.Delay]>([])
        let delays = [0.1, 0.2, 0.3, 0.7]
        let policy = HTTPRetryPolicy.custom { _, state, _ in
            received.withLock { $0.append(state.lastDelay) }
            return state.retryCount < delays.count ? .retryAfter(delays[state.retryCount]) : .none
        }
        let request = try HTTP.Request(url: "http://h.test/")
        _ = try? await mock.fetch(resource: .init(baseRequestMaking: .request(request), interceptors: [policy]))
        #expect(received.withLock { $0 } == [0] + delays)
    }
}
