extension Retry.Policy where Metadata: HTTPRetryMetadata {
    /// A policy for most requests: up to three retries, after at most 0.25, 0.5 and 1 s (full jitter), or after what
    /// `Retry-After` asks for, up to a minute. It retries only failures that may pass (``whenTransient(_:)``), and only requests
    /// that are safe to send again (``whenSafe()``).
    public static var standard: Self {
        backoff(.exponential(baseDelay: 0.25, until: .maxRetries(3))).jittered().respectingRetryAfter(upTo: 60)
            .whenTransient().whenSafe()
    }

    /// ``respectingRetryAfter(upTo:now:)`` with a `Duration`.
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
    ///   - truncation: When to stop.
    /// - Returns: The backoff.
    public static func constant(delay: Duration, until truncation: Truncation) -> Self {
        .constant(delay: delay.seconds, until: truncation)
    }

    /// Delays that double, from the base delay on (``doubling(_:_:)``).
    ///
    /// - Parameters:
    ///   - baseDelay: The first delay.
    ///   - truncation: When to stop; with a `maxDelay`, no single delay is longer than that.
    /// - Returns: The backoff.
    public static func exponential(baseDelay: Duration, until truncation: Truncation) -> Self {
        .exponential(baseDelay: baseDelay.seconds, until: truncation)
    }
}

extension Retry.Backoff.Truncation {
    /// Once the delays add up to this.
    ///
    /// - Parameter limit: The total.
    /// - Returns: The truncation.
    public static func maxDelay(_ limit: Duration) -> Self { .maxDelay(limit.seconds) }
}
