extension Retry {
    /// How much of a delay is left to chance, so that clients that failed together do not come back together.
    public enum Jitter: Hashable, Sendable {
        /// All of it: from next to nothing to the whole delay.
        case full
        /// Half of it: from half the delay to the whole.
        case equal
    }

    /// Draws a number from a range, evenly. One of your own makes delays predictable in tests.
    public typealias RandomSource = @Sendable (ClosedRange<Double>) -> Double

    /// No delay is drawn shorter than this, in seconds: retries that cost no time would never reach a `maxDelay`.
    fileprivate static let shortestDelay = 0.001
}

extension Retry.Policy {
    /// The same policy with its delays left to chance, those that a server asked for as well: before
    /// ``respectingRetryAfter(upTo:now:)`` it leaves them alone.
    ///
    /// - Parameters:
    ///   - jitter: How much of each delay.
    ///   - random: Where chance comes from.
    /// - Returns: The policy.
    public func jittered(
        _ jitter: Retry.Jitter = .full,
        random: @escaping Retry.RandomSource = { .random(in: $0) }
    ) -> Self {
        .custom { error, state, metadata in
            let action = shouldRetry(with: error, state: state, metadata: metadata)
            guard case .retryAfter(let delay) = action, delay > 0, delay.isFinite else { return action }
            let drawn = random((jitter == .full ? 0 : delay / 2)...delay)
            return .retryAfter(max(drawn, min(delay, Retry.shortestDelay)))
        }
    }

    /// A backoff whose delays are each drawn from between the base delay and three times the one before.
    ///
    /// It spreads clients more widely than a growing delay with jitter, and still grows.
    ///
    /// - Parameters:
    ///   - baseDelay: The shortest delay, in seconds; finite and above zero.
    ///   - longest: The longest delay, in seconds; finite.
    ///   - truncation: When to stop.
    ///   - random: Where chance comes from.
    /// - Returns: The policy.
    public static func decorrelatedJitter(
        baseDelay: Retry.Delay,
        longest: Retry.Delay,
        until truncation: Retry.Backoff.Truncation,
        random: @escaping Retry.RandomSource = { .random(in: $0) }
    ) -> Self {
        .custom { _, state, _ in
            if let refusal = truncation.refusal(after: state) { return refusal }
            // What cannot be waited for is voted for as it is, and ends the fetch.
            guard baseDelay > 0, baseDelay.isFinite else { return .retryAfter(baseDelay) }
            guard longest >= baseDelay, longest.isFinite else { return .retryAfter(longest) }
            let tripled = 3 * max(state.lastDelay, baseDelay)
            return .retryAfter(random(baseDelay...min(tripled, longest)))
        }
    }
}
