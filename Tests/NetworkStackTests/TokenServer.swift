import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// A server of tokens: it counts, waits for its gate, and numbers its tokens.
final class TokenServer: Sendable {
    private let state = Lock<(count: Int, given: [AccessToken?], failure: (any Error)?)>((0, [], nil))
    let began = Gate()
    let gate: Gate?
    private let lifetime: TimeInterval?
    private let now: @Sendable () -> Date

    init(gate: Gate? = nil, lifetime: TimeInterval? = nil, now: @escaping @Sendable () -> Date = { Date() }) {
        (self.gate, self.lifetime, self.now) = (gate, lifetime, now)
    }

    var count: Int { state.withLock { $0.count } }
    /// The tokens that it was asked to replace.
    var given: [String?] { state.withLock { $0.given.map { $0?.value } } }

    func fail(with error: (any Error)?) { state.withLock { $0.failure = error } }

    @Sendable func refresh(_ old: AccessToken?) async throws -> AccessToken {
        let (number, failure) = state.withLock { state in
            state.count += 1
            state.given.append(old)
            return (state.count, state.failure)
        }
        began.open()
        try await gate?.opened()
        if let failure { throw failure }
        return AccessToken("T\(number)", expirationDate: lifetime.map { now().addingTimeInterval($0) })
    }
}
