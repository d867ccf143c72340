import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// What a fetch keeps of its failed attempts.
    static let retriesKept: [ConformanceCheck] = [
        ConformanceCheck("Errors of earlier attempts keep neither bodies nor earlier requests") { subject in
            let peer = try subject.serve { _ in .status(503, "overloaded") }
            let votes = Lock<[[String]]>([])
            let spy = Spy("spy").with {
                $0.vote = { event in
                    votes.withLock { $0.append(event.state.errors.map(Self.kept)) }
                    return event.state.retryCount < 3 ? .retry : .noRetry(.retries(3))
                }
            }
            let outcome = try await subject.stack().observe(.intercepted(peer.url("/"), by: [spy])).onlyOutcome()
            let (_, state) = try outcome.retryError()
            let earlier = "http 0 0"
            try expectEqual(
                votes.withLock { $0 },
                (0...3).map { Array(repeating: earlier, count: $0) },
                "what was kept"
            )
            try expectEqual(state.errors.map(kept), Array(repeating: earlier, count: 3) + ["http 10 3"], "at the end")
        },
        ConformanceCheck("A failed transfer's error keeps no earlier requests", needs: [.network]) { subject in
            let closed = try ClosedPort.reserve()
            let outcome = try await subject.stack().observe(
                .intercepted("http://127.0.0.1:\(closed.port)/", by: [HTTPRetryPolicy.maxRetries(2)])
            ).onlyOutcome()
            let (_, state) = try outcome.retryError()
            try expectEqual(state.errors.map(kept), ["transport 0 0", "transport 0 0", "transport 0 2"], "at the end")
        },
    ]

    /// The case of an error, how many bytes of a body it has, and how many earlier requests.
    private static func kept(_ error: any Error) -> String {
        guard let error = error as? any HTTPError else { return "\(error)" }
        return "\(error.caseName) \(error.body?.count ?? 0) \(error.context?.metrics.hops.count ?? -1)"
    }
}
