extension Retry {
    /// When an operation that has failed is retried.
    ///
    /// A policy votes on a failure, based on the state of the operation. It is an interceptor, too: add it to those of a resource
    /// or a stack, alone or with others; the vote with the highest priority counts.
    ///
    /// A policy does not check whether sending a request twice is safe: a vote for a retry declares it safe. Use ``whenSafe()``
    /// and ``whenTransient(_:)`` for policies that check.
    public enum Policy<Metadata: Sendable>: Sendable {
        /// Votes based on the failure, the state before it, and the operation's metadata.
        public typealias Rule = @Sendable (_ error: any Swift.Error, _ state: State, _ metadata: Metadata) -> Action

        /// Retries at once, up to this many times.
        case maxRetries(Int)
        /// Retries after a delay.
        case backoff(Backoff)
        /// Votes as a closure does.
        case custom(Rule)

        /// Votes on a failure.
        ///
        /// - Parameters:
        ///   - error: The failure.
        ///   - state: The state of the operation before this failure.
        ///   - metadata: The operation's metadata.
        /// - Returns: The vote.
        public func shouldRetry(with error: any Swift.Error, state: State, metadata: Metadata) -> Action {
            switch self {
            case .maxRetries(let limit): Backoff.Truncation.maxRetries(limit).refusal(after: state) ?? .retry
            case .backoff(let backoff): backoff.action(after: state)
            case .custom(let rule): rule(error, state, metadata)
            }
        }

        /// Returns the policy restricted to a condition; otherwise it returns `.none`.
        ///
        /// - Parameter condition: Gets the parameters of the policy.
        /// - Returns: The restricted policy.
        public func when(_ condition: @escaping @Sendable (any Swift.Error, State, Metadata) -> Bool) -> Self {
            .custom { error, state, metadata in
                condition(error, state, metadata) ? shouldRetry(with: error, state: state, metadata: metadata) : .none
            }
        }
    }
}

/// A retry policy of the neutral types: one object for every stack, with `adapted()`.
public typealias HTTPRetryPolicy = Retry.Policy<Retry.Metadata<HTTP.Request, HTTP.Response>>
