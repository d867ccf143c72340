/// A condition for which a test waited was not met in time.
public struct WaitTimedOut: Error, Sendable, CustomStringConvertible {
    /// How long the test waited.
    public let limit: Duration
    /// The state at the end of the wait.
    public let seen: String

    init(limit: Duration, seen: String) {
        self.limit = limit
        self.seen = seen
    }

    /// The limit and the last state.
    public var description: String { "the condition was not met within \(limit); the last state was \(seen)" }
}
