extension Retry {
    /// What to do after a failure: one vote, or what the votes come to.
    public enum Action: Sendable {
        /// Nothing: the failure stands.
        case none
        /// The operation must not be tried again.
        case noRetry(Retry.Error)
        /// Try again at once.
        case retry
        /// Try again after a delay, in seconds; it must be finite and greater than zero.
        case retryAfter(Delay)

        /// Chooses between two actions, the one so far and the next vote.
        public typealias CompareClosure = @Sendable (Action, Action) -> Action

        /// The more important of two actions: `noRetry` before all (the first of two), then `retryAfter` (the longer of
        /// two), then `retry`, then `none`.
        ///
        /// - Parameters:
        ///   - lhs: The action so far.
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

    /// A delay that nobody can wait for: not finite, or not greater than zero. The fetch ends with it, as ``Error/custom(_:)`` of
    /// ``HTTPFetchError/retry(_:_:)``.
    public struct InvalidDelay: Swift.Error, Hashable, CustomStringConvertible {
        /// The delay that was voted for, in seconds.
        public let delay: Delay

        /// Makes one.
        ///
        /// - Parameter delay: The delay that was voted for, in seconds.
        public init(_ delay: Delay) { self.delay = delay }

        /// What happened.
        public var description: String {
            "A retry after \(delay) s was asked for; the delay must be finite and above zero."
        }
    }
}
