/// An event of a `text/event-stream` (HTML Living Standard, section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// What kind of event it is; `message` unless the server says otherwise.
    public var name: String
    /// The data, its lines joined with line feeds.
    public var data: String
    /// The identifier of the last event that had one; sent back as `Last-Event-ID` when one connects again.
    public var id: String
    /// How long to wait before connecting again, if the server has said so.
    public var retry: Duration?

    /// Makes an event.
    ///
    /// - Parameters:
    ///   - name: What kind of event it is.
    ///   - data: The data.
    ///   - id: The identifier of the last event that had one.
    ///   - retry: How long to wait before connecting again, if the server has said so.
    public init(name: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.name = name
        self.data = data
        self.id = id
        self.retry = retry
    }
}

/// The data of a server-sent event was longer than the limit.
public struct EventTooLong: Error, Hashable, CustomStringConvertible {
    /// The limit, in bytes.
    public let limit: Int

    /// Makes the error, for tests of who is to handle it.
    ///
    /// - Parameter limit: The limit, in bytes.
    public init(limit: Int) { self.limit = limit }

    /// What happened.
    public var description: String { "The data of a server-sent event is longer than the limit of \(limit) bytes." }
}

/// The response to a request for server-sent events is of another type. Its content can still be read.
public struct NotAnEventStream: Error, CustomStringConvertible {
    /// The content's type; `nil` if the response names none.
    public let contentType: HTTP.MediaType?
    /// The content, none of which has been read. ``ByteStream/collect(upTo:)`` reads it within a limit; it is given up when
    /// nothing holds the error any more.
    public let content: ByteStream

    init(contentType: HTTP.MediaType?, content: ByteStream) {
        (self.contentType, self.content) = (contentType, content)
    }

    /// What happened.
    public var description: String {
        "The response's content is \(contentType?.essence ?? "of no type"), not \(HTTP.MediaType.eventStream)."
    }
}

/// The events of a stream as they come. An event that the end of the stream cuts short is dropped, unless
/// ``Options/unfinishedEvent`` asks for it.
public struct ServerSentEventStream: AsyncSequence, Sendable {
    /// Where to depart from the HTML standard.
    public struct Options: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: Int

        /// Makes options of bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Delivers the last event even if the content ends, whole, before the blank line that should follow the event.
        public static let unfinishedEvent = Options(rawValue: 1)
        /// Reads content of any type as events, for servers that do not send `Content-Type: text/event-stream`.
        public static let anyContentType = Options(rawValue: 2)
    }

    private let events: ServerSentEventReader

    init(_ stream: ByteStream, limit: Int, options: Options = [], onComment: (@Sendable (String) -> Void)? = nil) {
        events = ServerSentEventReader(stream, limit: limit, options: options, onComment: onComment)
    }

    /// What to connect again with (`Last-Event-ID`): the identifier of the last event that had one, also of one without data,
    /// which is not told, but not of one that the end of the stream cut short. `nil` if there was none: then what this stream
    /// was asked for with counts on.
    public var lastEventID: String? { events.lastEventID }

    /// How long to wait before connecting again, if the server has said so, be it without an event.
    public var retry: Duration? { events.retry }

    /// Reads on where the stream stands; identifiers and times that were said before count on.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: events) }

    /// Reads event by event.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let events: ServerSentEventReader

        /// The next event.
        ///
        /// - Returns: The event, or `nil` at the end.
        /// - Throws: ``ByteStream/Failed``, ``LineTooLong`` or ``EventTooLong``.
        public mutating func next() async throws -> ServerSentEvent? { try await events.next() }
    }
}

/// Reads the events of a stream. What was read ahead, and what later events inherit, is the reader's.
private final class ServerSentEventReader: Sendable {
    let lines: LineReader
    private let parser: Lock<ServerSentEventParser>
    private let keepsRest: Bool
    private let onComment: (@Sendable (String) -> Void)?

    init(
        _ stream: ByteStream,
        limit: Int,
        options: ServerSentEventStream.Options = [],
        onComment: (@Sendable (String) -> Void)? = nil
    ) {
        keepsRest = options.contains(.unfinishedEvent)
        lines = LineReader(stream, ending: .lineFeedsAndReturns, keepsRest: keepsRest, limit: limit)
        parser = Lock(ServerSentEventParser(limit: limit))
        self.onComment = onComment
    }

    var lastEventID: String? { parser.withLock { $0.lastEventID } }
    var retry: Duration? { parser.withLock { $0.retry } }

    /// The next event, or `nil` at the end.
    func next() async throws -> ServerSentEvent? {
        while let line = try await lines.next() {
            switch try parser.withLock({ parser throws(EventTooLong) in try parser.take(line) }) {
            case .event(let event): return event
            case .comment(let text): onComment?(text)
            case nil: break
            }
        }
        return keepsRest ? parser.withLock { $0.event() } : nil
    }
}
