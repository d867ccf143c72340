public import FoundationEssentials

/// The response to a request for server-sent events has another media type. Its body can still be read.
public struct NotAnEventStream: DescribedError {
    /// The body's media type; `nil` if the response names none.
    public let contentType: HTTP.MediaType?
    private let collect: @Sendable (Int64) async throws -> Data

    init<Failure>(contentType: HTTP.MediaType?, body: ByteStream<Failure>) {
        self.contentType = contentType
        collect = { limit in try await body.collect(upTo: limit) }
    }

    /// Collects the body, none of which has been read. Releasing the error instead cancels the transfer.
    ///
    /// - Parameter limit: The most bytes to collect.
    /// - Returns: The body.
    /// - Throws: The stack's `FetchError`.
    public func body(upTo limit: Int64 = 1 << 20) async throws -> Data { try await collect(limit) }

    /// What happened.
    public var description: String {
        "The response has \(contentType.map { "the media type \($0.essence)" } ?? "no media type"), not text/event-stream."
    }
}

/// Where the reading of server-sent events departs from the HTML standard.
public struct ServerSentEventOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Makes options from bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Delivers the last event even if the body ends, whole, before the blank line that should follow the event.
    public static let unfinishedEvent = ServerSentEventOptions(rawValue: 1)
    /// Reads a body of any media type as events, for servers that do not send `Content-Type: text/event-stream`.
    public static let anyContentType = ServerSentEventOptions(rawValue: 2)
}

/// The events of one response as they arrive. An incomplete event at the end of the stream is dropped, except with
/// ``ServerSentEventOptions/unfinishedEvent``.
public struct ServerSentEventStream<Failure: ByteStreamFailure>: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    private let lines: LineReader<Failure>
    private let parser: Lock<ServerSentEventParser>
    private let isReading = Lock(false)
    private let keepsRest: Bool
    private let onComment: (@Sendable (String) -> Void)?

    init(
        _ stream: ByteStream<Failure>,
        limit: Int,
        options: ServerSentEventOptions = [],
        onComment: (@Sendable (String) -> Void)? = nil,
        undecodable: @escaping @Sendable (any Error) -> Failure
    ) {
        keepsRest = options.contains(.unfinishedEvent)
        lines = LineReader(
            stream,
            ending: .lineFeedsAndReturns,
            keepsRest: keepsRest,
            limit: limit,
            undecodable: undecodable
        )
        parser = Lock(ServerSentEventParser(limit: limit))
        self.onComment = onComment
    }

    /// The `Last-Event-ID` of the next connection: the identifier of the last event that had one, also of one without data, which
    /// is not delivered, but not of an incomplete one. `nil` if there was none: then the identifier with which this stream was
    /// requested still counts.
    public var lastEventID: String? { parser.withLock { $0.lastEventID } }

    /// How long to wait before connecting again, if the server has sent the field `retry`, even without an event.
    public var retry: Duration? { parser.withLock { $0.retry } }

    /// Takes over the identifier and the retry time of the former connection, until this one brings others.
    func inherit(from former: Self) {
        let (id, retry) = (former.lastEventID, former.retry)
        parser.withLock { $0.inherit(id: id, retry: retry) }
    }

    /// Returns an iterator that continues where the stream stands; identifiers and times received before still count.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: self) }

    /// Reads event by event.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let events: ServerSentEventStream

        /// The next event.
        ///
        /// - Parameter actor: Where the caller runs.
        /// - Returns: The event, or `nil` at the end.
        /// - Throws: The stream's failure; ``HTTPFetchError/undecodable(_:_:)`` with ``LineTooLong`` or ``EventTooLong``;
        ///   ``HTTPFetchError/concurrentRead`` if another task reads the next event.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> ServerSentEvent? {
            try await events.next()
        }
    }

    /// The next event, or `nil` at the end.
    fileprivate func next() async throws(Failure) -> ServerSentEvent? {
        guard !isReading.withLock({ exchange(&$0, with: true) }) else { throw .concurrentRead }
        defer { isReading.withLock { $0 = false } }
        while let line = try await lines.next() {
            switch try take(line) {
            case .event(let event): return event
            case .comment(let text): onComment?(text)
            case nil: break
            }
        }
        return keepsRest ? parser.withLock { $0.event() } : nil
    }

    private func take(_ line: ArraySlice<UInt8>) throws(Failure) -> ServerSentEventParser.Item? {
        do { return try parser.withLock { parser throws(EventTooLong) in try parser.take(line) } } catch {
            throw lines.undecodable(error)
        }
    }
}
