extension Retry {
    /// When an operation that has failed is tried again.
    ///
    /// A policy looks at the failure and at what the operation has been through, and votes. It is an interceptor, too: put
    /// it among those of a resource or a stack, alone or beside others; the most important vote counts.
    ///
    /// A policy does not ask whether sending a request twice is safe: voting for a retry says that it is. See ``whenSafe()``
    /// and ``whenTransient(_:)`` for policies that look first.
    public enum Policy<Metadata: Sendable>: Sendable {
        /// Votes freely: it is told the failure, the state before it, and the operation's metadata.
        public typealias Rule = @Sendable (_ error: any Swift.Error, _ state: State, _ metadata: Metadata) -> Action

        /// Tries again at once, so many times.
        case maxRetries(Int)
        /// Tries again after a delay.
        case backoff(Backoff)
        /// Does what a closure says.
        case custom(Rule)

        /// Votes on a failure.
        ///
        /// - Parameters:
        ///   - error: The failure.
        ///   - state: What the operation has been through before this failure.
        ///   - metadata: What is known of the operation.
        /// - Returns: The vote.
        public func shouldRetry(with error: any Swift.Error, state: State, metadata: Metadata) -> Action {
            switch self {
            case .maxRetries(let limit): Backoff.Truncation.maxRetries(limit).refusal(after: state) ?? .retry
            case .backoff(let backoff): backoff.action(after: state)
            case .custom(let rule): rule(error, state, metadata)
            }
        }

        /// The same policy, asked only where a condition holds; elsewhere it votes for nothing.
        ///
        /// - Parameter condition: Told what the policy would be told.
        /// - Returns: The narrower policy.
        public func when(_ condition: @escaping @Sendable (any Swift.Error, State, Metadata) -> Bool) -> Self {
            .custom { error, state, metadata in
                condition(error, state, metadata) ? shouldRetry(with: error, state: state, metadata: metadata) : .none
            }
        }
    }
}

/// A retry policy of the neutral types: one object for every stack, through `adapted()`.
public typealias HTTPRetryPolicy = Retry.Policy<Retry.Metadata<HTTP.Request, HTTP.Response>>
