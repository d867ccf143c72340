internal import FoundationEssentials

/// An event of a `text/event-stream` (HTML Living Standard, section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's type (the field `event`); `message` if the server names none.
    public var event: String
    /// The data, its lines joined with line feeds.
    public var data: String
    /// The identifier of the last event that had one; empty if none had. An ``EventSource`` keeps it across connections, and sends
    /// it as `Last-Event-ID`. An identifier with a control character is ignored, because no header field can carry it.
    public var id: String
    /// How long to wait before connecting again, if the server has sent the field `retry`. An ``EventSource`` keeps it across
    /// connections.
    public var retry: Duration?

    /// Makes an event.
    ///
    /// - Parameters:
    ///   - event: The event's type.
    ///   - data: The data.
    ///   - id: The identifier of the last event that had one.
    ///   - retry: How long to wait before connecting again, if the server has sent the field `retry`.
    public init(event: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }
}

/// The data of a server-sent event was longer than the limit.
public struct EventTooLong: DescribedError, Hashable {
    /// The limit, in bytes.
    public let limit: Int

    /// Makes the error, for tests of code that handles it.
    ///
    /// - Parameter limit: The limit, in bytes.
    public init(limit: Int) { self.limit = limit }

    /// What happened.
    public var description: String { "The data of a server-sent event is longer than the limit of \(limit) bytes." }
}
