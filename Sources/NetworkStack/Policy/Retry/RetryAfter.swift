public import FoundationEssentials

extension Retry.Policy where Metadata: HTTPRetryMetadata {
    /// Returns the policy with delays at least as long as the server's `Retry-After` (RFC 9110 section 10.2.3).
    ///
    /// The policy still decides whether there is a retry. A `Retry-After` longer than the limit ends the retries, so a request is
    /// never sent sooner than the server allows. A past date and an invalid value have no effect. Apply jitter first:
    /// `jittered()` after this could make delays shorter than `Retry-After`.
    ///
    /// - Parameters:
    ///   - limit: The longest wait, in seconds. If the server asks for more, the fetch ends with ``Retry/RetryAfterTooLong``, as
    ///     ``Retry/Error/custom(_:)`` of ``HTTPFetchError/retry(_:_:)``.
    ///   - now: Returns the time for comparing dates.
    /// - Returns: The policy.
    public func respectingRetryAfter(
        upTo limit: Retry.Delay,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> Self {
        .custom { error, state, metadata in
            let action = shouldRetry(with: error, state: state, metadata: metadata)
            let field = metadata.response?.httpResponse?.headers.values(for: .retryAfter).first
            guard let asked = field.flatMap({ RetryAfter.delay($0, at: now()) }), asked > 0 else { return action }
            switch action {
            case .none, .noRetry: return action
            case .retry, .retryAfter:
                guard asked <= limit else {
                    return .noRetry(.custom(Retry.RetryAfterTooLong(delay: asked, limit: limit)))
                }
                return Retry.Action.mostPrioritary(action, .retryAfter(asked))
            }
        }
    }
}

extension Retry {
    /// The server's `Retry-After` is longer than the policy allows. The fetch ends with it, as ``Error/custom(_:)`` of
    /// ``HTTPFetchError/retry(_:_:)``.
    public struct RetryAfterTooLong: DescribedError, Hashable {
        /// The server's `Retry-After`, in seconds.
        public let delay: Delay
        /// The longest wait that the policy allows, in seconds.
        public let limit: Delay

        /// Makes the error, for tests.
        ///
        /// - Parameters:
        ///   - delay: The server's `Retry-After`, in seconds.
        ///   - limit: The longest wait that the policy allows, in seconds.
        public init(delay: Delay, limit: Delay) { (self.delay, self.limit) = (delay, limit) }

        /// The failure, in a sentence.
        public var description: String {
            "The server asked for a retry after \(delay) s; the policy waits \(limit) s at most."
        }
    }
}

/// The header field `Retry-After`.
enum RetryAfter {
    /// How long to wait, in seconds, by the field's value: a number of seconds, or a date; negative if that has passed. Of joined
    /// lines, the first that is not empty counts.
    static func delay(_ value: String, at now: Date) -> Double? {
        let parts = value.utf8.drop { $0.isBlank || $0 == UInt8(ascii: ",") }
            .split(separator: UInt8(ascii: ","), maxSplits: 2, omittingEmptySubsequences: false)
        guard let first = parts.first.map({ Substring($0.withoutOuterBlanks) }) else { return nil }
        // More digits than a number can hold mean infinity, which the limit handles.
        if isNumber(first.utf8) { return min(Double(first) ?? .infinity, .greatestFiniteMagnitude) }
        // Most dates contain a comma, too.
        let both = parts.prefix(2).map { String(Substring($0)) }.joined(separator: ",")
        return (HTTPDate.parse(both, now: now) ?? HTTPDate.parse(String(first), now: now))?.timeIntervalSince(now)
    }

    /// Whether a text is a number of seconds. RFC 9110 allows integers only, but servers send fractions.
    private static func isNumber(_ text: Substring.UTF8View) -> Bool {
        let whole = text.prefix(while: \.isDigit)
        let rest = text[whole.endIndex...]
        return !whole.isEmpty
            && (rest.isEmpty || rest.first == UInt8(ascii: ".") && rest.dropFirst().allSatisfy(\.isDigit))
    }
}
