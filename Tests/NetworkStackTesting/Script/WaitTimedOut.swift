/// A condition a test waited for did not come true in time.
public struct WaitTimedOut: Error, Sendable, CustomStringConvertible {
    /// How long was waited.
    public let limit: Duration
    /// What was there instead when time was up.
    public let seen: String

    init(limit: Duration, seen: String) {
        self.limit = limit
        self.seen = seen
    }

    /// The limit and what was seen last.
    public var description: String { "the condition did not come true within \(limit); at the end there was \(seen)" }
}
