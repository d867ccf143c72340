public import FoundationEssentials

extension Retry.Policy where Metadata: HTTPRetryMetadata {
    /// The same policy, with delays at least as long as the server asks for in `Retry-After` (RFC 9110 section 10.2.3).
    ///
    /// Whether there is a retry at all is still the policy's decision. A wait longer than the limit ends the retries: the
    /// request is not sent sooner than the server allows. A date that has passed, and a value that is neither a number of
    /// seconds, fractions included, nor a date, ask for nothing. Apply jitter before: `jittered()` after this would draw
    /// delays that are shorter than what the server asks for.
    ///
    /// - Parameters:
    ///   - limit: The longest wait, in seconds. If the server asks for more, the fetch ends with
    ///     ``Retry/RetryAfterTooLong``, as ``Retry/Error/custom(_:)`` of ``HTTPFetchError/retry(_:_:)``.
    ///   - now: The time that dates are compared with.
    /// - Returns: The policy.
    public func respectingRetryAfter(
        upTo limit: Retry.Delay,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> Self {
        .custom { error, state, metadata in
            let action = shouldRetry(with: error, state: state, metadata: metadata)
            guard let response = metadata.response?.httpResponse,
                case let moment = now(), let asked = RetryAfter(response, now: moment)?.delay(at: moment), asked > 0
            else { return action }
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
    /// The server asked, in `Retry-After`, for a longer wait than the policy allows. The fetch ends with it, as
    /// ``Error/custom(_:)`` of ``HTTPFetchError/retry(_:_:)``.
    public struct RetryAfterTooLong: Swift.Error, Hashable, CustomStringConvertible {
        /// The wait that the server asked for, in seconds.
        public let delay: Delay
        /// The longest wait that the policy allows, in seconds.
        public let limit: Delay

        /// Makes the error, for tests.
        ///
        /// - Parameters:
        ///   - delay: The wait that the server asked for, in seconds.
        ///   - limit: The longest wait that the policy allows, in seconds.
        public init(delay: Delay, limit: Delay) { (self.delay, self.limit) = (delay, limit) }

        /// What happened.
        public var description: String {
            "The server asked for a retry after \(delay) s; the policy waits \(limit) s at most."
        }
    }
}

/// What a server asks for in `Retry-After`.
enum RetryAfter: Equatable {
    case seconds(Double)
    case date(Date)

    init?(_ response: HTTP.Response, now: Date) {
        guard let text = response.headers.values(for: .retryAfter).first else { return nil }
        self.init(text, now: now)
    }

    /// Reads a field's value: a number of seconds, or a date. Of joined lines the first that is not empty counts.
    init?(_ value: String, now: @autoclosure () -> Date) {
        let text = Substring(value.utf8.drop { $0.isBlank || $0 == UInt8(ascii: ",") })
        // A date has a comma, too.
        let first = Substring(text.utf8.prefix { $0 != UInt8(ascii: ",") }.withoutOuterBlanks)
        if Self.isNumber(first.utf8) {
            // More digits than a number holds mean for ever, which the limit cuts short.
            self = .seconds(min(Double(first) ?? .infinity, .greatestFiniteMagnitude))
        } else if let date = HTTPDate.parse(String(text), now: now()) {
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

    /// Whether a text is a number of seconds; RFC 9110 allows whole ones, and servers send fractions.
    private static func isNumber(_ text: Substring.UTF8View) -> Bool {
        let whole = text.prefix(while: \.isDigit)
        let rest = text[whole.endIndex...]
        return !whole.isEmpty
            && (rest.isEmpty || rest.first == UInt8(ascii: ".") && rest.dropFirst().allSatisfy(\.isDigit))
    }
}
