extension Retry {
    /// How long to wait before each retry, and when to stop. Delays are in seconds; one that is not finite and above zero
    /// ends the fetch with ``InvalidDelay``.
    public enum Backoff: Sendable {
        /// Makes a delay of the base delay and the number of the retry, which counts from 1.
        public typealias Scale = @Sendable (_ baseDelay: Delay, _ retry: Int) -> Delay

        /// The same delay every time. It is not shortened, so the total may pass a `maxDelay` by less than one delay.
        case constant(delay: Delay, until: Truncation)
        /// A delay that grows as `scale` says, by default from the base delay to twice the last delay each time
        /// (``doubling(_:_:)``); with a `maxDelay`, no single one is longer than that.
        case exponential(baseDelay: Delay, scale: Scale = Backoff.doubling, until: Truncation)

        /// The base delay, then twice the last delay each time: `baseDelay` x 2^(`retry` - 1).
        ///
        /// - Parameters:
        ///   - baseDelay: The first delay, in seconds.
        ///   - retry: The number of the retry, which counts from 1.
        /// - Returns: The delay, in seconds.
        @Sendable
        public static func doubling(_ baseDelay: Delay, _ retry: Int) -> Delay {
            baseDelay * Delay(sign: .plus, exponent: retry - 1, significand: 1)
        }

        /// When to stop.
        public enum Truncation: Sendable {
            /// After so many retries.
            case maxRetries(Int)
            /// Once the delays add up to this, in seconds.
            case maxDelay(Delay)

            /// The vote against another retry, if it is time to stop.
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
