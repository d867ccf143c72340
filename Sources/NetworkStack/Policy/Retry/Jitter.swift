extension Retry {
    /// How much of a delay is random, so that clients that failed together do not retry together.
    public enum Jitter: Hashable, Sendable {
        /// All of it: from almost zero to the whole delay.
        case full
        /// Half of it: from half the delay to the whole.
        case equal
    }

    /// Returns a random number from a range, uniformly distributed. Use your own source for predictable delays in tests.
    public typealias RandomSource = @Sendable (ClosedRange<Double>) -> Double

    /// The shortest delay, in seconds. Without it, retries might never reach a `maxDelay`.
    fileprivate static let shortestDelay = 0.001
}

extension Retry.Policy {
    /// Returns the policy with random delays. It also changes delays that a server asked for, unless it is applied before
    /// ``respectingRetryAfter(upTo:now:)``.
    ///
    /// - Parameters:
    ///   - jitter: How much of each delay is random.
    ///   - random: The source of random numbers.
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

    /// A backoff with random delays, each between the base delay and three times the previous one.
    ///
    /// It spreads clients more widely than a growing delay with jitter, and still grows.
    ///
    /// - Parameters:
    ///   - baseDelay: The shortest delay, in seconds; finite and greater than zero.
    ///   - longest: The longest delay, in seconds; finite.
    ///   - truncation: When retries end.
    ///   - random: The source of random numbers.
    /// - Returns: The policy.
    public static func decorrelatedJitter(
        baseDelay: Retry.Delay,
        longest: Retry.Delay,
        until truncation: Retry.Backoff.Truncation,
        random: @escaping Retry.RandomSource = { .random(in: $0) }
    ) -> Self {
        .custom { _, state, _ in
            if let refusal = truncation.refusal(after: state) { return refusal }
            // An invalid delay is voted for unchanged, and ends the fetch.
            guard baseDelay > 0, baseDelay.isFinite else { return .retryAfter(baseDelay) }
            guard longest >= baseDelay, longest.isFinite else { return .retryAfter(longest) }
            let tripled = 3 * max(state.lastDelay, baseDelay)
            return .retryAfter(random(baseDelay...min(tripled, longest)))
        }
    }
}
