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

/// The events of a stream as they come. An event that the end of the stream cuts short is not told.
public struct ServerSentEventStream: AsyncSequence, Sendable {
    private let events: ServerSentEventReader

    init(_ stream: ByteStream, limit: Int) { events = ServerSentEventReader(stream, limit: limit) }

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

    init(_ stream: ByteStream, limit: Int) {
        lines = LineReader(stream, ending: .lineFeedsAndReturns, limit: limit)
        parser = Lock(ServerSentEventParser(limit: limit))
    }

    var lastEventID: String? { parser.withLock { $0.lastEventID } }
    var retry: Duration? { parser.withLock { $0.retry } }

    /// The next event, or `nil` at the end.
    func next() async throws -> ServerSentEvent? {
        while let line = try await lines.next() {
            if let event = try parser.withLock({ parser throws(EventTooLong) in try parser.take(line) }) {
                return event
            }
        }
        return nil
    }
}

/// Makes events of lines (HTML Living Standard, section 9.2.6). It works on bytes: a colon or a space counts whatever
/// follows, although a combining mark would make one character of both.
struct ServerSentEventParser {
    private let limit: Int
    private var isFirst = true
    private var name = ""
    /// The lines of data, each with a line feed after it.
    private var data: [UInt8] = []
    private var id: String?
    /// The identifier as of the last event that ended, with data or without.
    private(set) var lastEventID: String?
    private(set) var retry: Duration?
    /// An event's data was longer than the limit. What follows would make an event that is not whole.
    private var isTooLong = false

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(limit: Int) { self.limit = limit }

    /// Takes the next line.
    ///
    /// - Returns: The event that it ends, if it ends one.
    /// - Throws: ``EventTooLong``, from then on always.
    mutating func take(_ line: ArraySlice<UInt8>) throws(EventTooLong) -> ServerSentEvent? {
        if isTooLong { throw EventTooLong(limit: limit) }
        var line = line
        if isFirst, line.starts(with: Self.byteOrderMark) { line.removeFirst(Self.byteOrderMark.count) }
        isFirst = false
        guard !line.isEmpty else { return event() }
        let field = line.prefix { $0 != UInt8(ascii: ":") }
        var value = line.dropFirst(field.count + 1)
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: field, as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            isTooLong = data.count + value.count > limit
            guard !isTooLong else { throw EventTooLong(limit: limit) }
            data += value
            data.append(UInt8(ascii: "\n"))
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry": retry = Self.milliseconds(value).map { .milliseconds($0) } ?? retry
        default: break
        }
        return nil
    }

    /// What the lines since the last event make; nothing without data.
    private mutating func event() -> ServerSentEvent? {
        defer { (name, data) = ("", []) }
        lastEventID = id
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            name: name.isEmpty ? "message" : name,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            id: id ?? "",
            retry: retry
        )
    }

    /// A number of ASCII digits and nothing else.
    private static func milliseconds(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.allSatisfy(\.isDigit) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}
