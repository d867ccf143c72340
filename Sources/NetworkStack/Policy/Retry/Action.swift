internal import FoundationEssentials

extension Retry {
    /// The action after a failure: one vote, or the result of several.
    public enum Action: Sendable {
        /// No vote: the failure stands.
        case none
        /// The operation must not be retried.
        case noRetry(Retry.Error)
        /// Retry at once.
        case retry
        /// Retry after a delay in seconds, which must be finite and greater than zero.
        case retryAfter(Delay)

        /// Selects one of two actions: the result so far, or the next vote.
        public typealias CompareClosure = @Sendable (Action, Action) -> Action

        /// Returns the action with the higher priority: `noRetry` (the first of two), then `retryAfter` (the longer of two), then
        /// `retry`, then `none`.
        ///
        /// - Parameters:
        ///   - lhs: The result so far.
        ///   - rhs: The next vote.
        /// - Returns: One of the two.
        @Sendable
        public static func mostPrioritary(_ lhs: Action, _ rhs: Action) -> Action {
            switch (lhs, rhs) {
            case (.noRetry, _): lhs
            case (_, .noRetry): rhs
            case (.retryAfter(let first), .retryAfter(let second)): second > first ? rhs : lhs
            case (.retryAfter, _): lhs
            case (_, .retryAfter): rhs
            case (.retry, _): lhs
            case (.none, _): rhs
            }
        }
    }

    /// A delay that is not finite or not greater than zero. The fetch ends with it, as ``Error/custom(_:)`` of
    /// ``HTTPFetchError/retry(_:_:)``.
    public struct InvalidDelay: DescribedError, Hashable {
        /// The delay of the vote, in seconds.
        public let delay: Delay

        /// Makes the error.
        ///
        /// - Parameter delay: The delay of the vote, in seconds.
        public init(_ delay: Delay) { self.delay = delay }

        /// The failure, in a sentence.
        public var description: String {
            "A retry after \(delay) s was asked for; the delay must be finite and above zero."
        }
    }
}
