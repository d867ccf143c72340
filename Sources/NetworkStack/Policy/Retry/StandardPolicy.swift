extension Retry.Policy where Metadata: HTTPRetryMetadata {
    /// A policy for most requests: up to three retries, after at most 0.25, 0.5 and 1 s (full jitter), or after `Retry-After`, up
    /// to a minute. It retries only temporary failures (``whenTransient(_:)``), and only requests that are safe to send again
    /// (``whenSafe()``).
    public static var standard: Self { standard(maxRetries: 3) }

    /// The policy ``standard`` with another number of retries, or other delays.
    ///
    /// - Parameters:
    ///   - maxRetries: The number of retries. Zero or less retries nothing.
    ///   - baseDelay: The longest delay before the first retry, longer than zero; otherwise a retry ends the fetch with
    ///     ``Retry/InvalidDelay``. Before each later retry, the longest delay is twice the one before.
    /// - Returns: The policy.
    public static func standard(maxRetries: Int, baseDelay: Duration = .milliseconds(250)) -> Self {
        backoff(.exponential(baseDelay: baseDelay, until: .maxRetries(maxRetries))).jittered()
            .respectingRetryAfter(upTo: 60).whenTransient().whenSafe()
    }

    /// Returns the policy of ``respectingRetryAfter(upTo:now:)``, with a `Duration`.
    ///
    /// - Parameter limit: The longest wait. If the server asks for more, the fetch ends with ``Retry/RetryAfterTooLong``.
    /// - Returns: The policy.
    public func respectingRetryAfter(upTo limit: Duration) -> Self {
        respectingRetryAfter(upTo: limit.seconds)
    }
}

extension Retry.Backoff {
    /// The same delay every time.
    ///
    /// - Parameters:
    ///   - delay: The delay.
    ///   - truncation: When retries end.
    /// - Returns: The backoff.
    public static func constant(delay: Duration, until truncation: Truncation) -> Self {
        .constant(delay: delay.seconds, until: truncation)
    }

    /// Delays that double each time (``doubling(_:_:)``).
    ///
    /// - Parameters:
    ///   - baseDelay: The first delay.
    ///   - truncation: When retries end. A `maxDelay` also limits each single delay.
    /// - Returns: The backoff.
    public static func exponential(baseDelay: Duration, until truncation: Truncation) -> Self {
        .exponential(baseDelay: baseDelay.seconds, until: truncation)
    }
}

extension Retry.Backoff.Truncation {
    /// Once the sum of the delays reaches this.
    ///
    /// - Parameter limit: The total.
    /// - Returns: The truncation.
    public static func maxDelay(_ limit: Duration) -> Self { .maxDelay(limit.seconds) }
}
