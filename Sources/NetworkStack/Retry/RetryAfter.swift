public import FoundationEssentials

extension Retry.Policy where Metadata: HTTPRetryMetadata {
    /// The same policy, with delays at least as long as the server asks for in `Retry-After` (RFC 9110 section 10.2.3).
    ///
    /// Whether there is a retry at all stays the policy's word. A date that has passed, and a value that is neither a
    /// number of seconds nor a date, ask for nothing. Let jitter come first: `jittered()` after this would draw delays that
    /// are shorter than what the server asks for.
    ///
    /// - Parameters:
    ///   - cap: The longest time, in seconds, the server may ask for; what it asks for beyond that is not waited for.
    ///   - now: The time that dates are compared with.
    /// - Returns: The policy.
    public func respectingRetryAfter(
        upTo cap: Retry.Delay,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> Self {
        .custom { error, state, metadata in
            let action = shouldRetry(with: error, state: state, metadata: metadata)
            guard let response = metadata.response?.httpResponse,
                case let moment = now(), let asked = RetryAfter(response, now: moment)?.delay(at: moment), asked > 0,
                cap > 0
            else { return action }
            switch action {
            case .retry: return .retryAfter(min(asked, cap))
            case .retryAfter(let delay): return .retryAfter(max(delay, min(asked, cap)))
            case .none, .noRetry: return action
            }
        }
    }
}

/// What a server asks for in `Retry-After`.
enum RetryAfter: Equatable {
    case seconds(Double)
    case date(Date)

    init?(_ response: HTTP.Response, now: Date) {
        guard let text = response.headers.values(for: .retryAfter).first else { return nil }
        // Lines of one name may come joined. The first counts; a date has a comma, too.
        let first = Substring(text.utf8.prefix { $0 != UInt8(ascii: ",") }.withoutOuterBlanks)
        if !first.isEmpty, first.utf8.allSatisfy(\.isDigit) {
            // More digits than a number holds mean for ever, which the cap cuts short.
            self = .seconds(min(Double(first) ?? .infinity, .greatestFiniteMagnitude))
        } else if let date = HTTPDate.parse(text, now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// How long to wait from a moment on, in seconds; below zero if the time has passed.
    func delay(at now: Date) -> Double {
        switch self {
        case .seconds(let seconds): seconds
        case .date(let date): date.timeIntervalSince(now)
        }
    }
}
