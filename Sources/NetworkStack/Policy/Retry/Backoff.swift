extension Retry {
    /// The delays before retries, and when retries end. Delays are in seconds; a delay that is not finite and greater than zero
    /// ends the fetch with ``InvalidDelay``.
    public enum Backoff: Sendable {
        /// Computes a delay from the base delay and the number of the retry, from 1.
        public typealias Scale = @Sendable (_ baseDelay: Delay, _ retry: Int) -> Delay

        /// The same delay every time. It is not shortened, so the total may exceed a `maxDelay` by less than one delay.
        case constant(delay: Delay, until: Truncation)
        /// A delay that grows by `scale`; by default it doubles each time (``doubling(_:_:)``). A `maxDelay` also limits each
        /// single delay.
        case exponential(baseDelay: Delay, scale: Scale = Backoff.doubling, until: Truncation)

        /// Doubles the delay each time: `baseDelay` x 2^(`retry` - 1).
        ///
        /// - Parameters:
        ///   - baseDelay: The first delay, in seconds.
        ///   - retry: The number of the retry, from 1.
        /// - Returns: The delay, in seconds.
        @Sendable
        public static func doubling(_ baseDelay: Delay, _ retry: Int) -> Delay {
            baseDelay * Delay(sign: .plus, exponent: retry - 1, significand: 1)
        }

        /// When retries end.
        public enum Truncation: Sendable {
            /// After this many retries.
            case maxRetries(Int)
            /// Once the sum of the delays reaches this, in seconds.
            case maxDelay(Delay)

            /// The vote against another retry, if retries have ended.
            func refusal(after state: State) -> Action? {
                switch self {
                case .maxRetries(let limit): state.retryCount >= limit ? .noRetry(.retries(limit)) : nil
                case .maxDelay(let limit): state.totalDelay >= limit ? .noRetry(.delay(limit)) : nil
                }
            }
        }

        func action(after state: State) -> Action {
            switch self {
            case .constant(let delay, let truncation): truncation.refusal(after: state) ?? .retryAfter(delay)
            case .exponential(let base, let scale, let truncation):
                truncation.refusal(after: state)
                    ?? .retryAfter(truncation.shortened(scale(base, state.retryCount + 1)))
            }
        }
    }
}

extension Retry.Backoff.Truncation {
    fileprivate func shortened(_ delay: Retry.Delay) -> Retry.Delay {
        if case .maxDelay(let limit) = self { min(delay, limit) } else { delay }
    }
}
