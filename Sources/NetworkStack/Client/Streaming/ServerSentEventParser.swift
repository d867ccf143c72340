/// Makes events of lines (HTML Living Standard, section 9.2.6). It works on bytes: a colon or a space counts whatever
/// follows, although a combining mark would make one character of both.
struct ServerSentEventParser {
    /// What a line completes.
    enum Item: Equatable {
        case event(ServerSentEvent)
        /// The text after the colon, without the space that may follow it.
        case comment(String)
    }

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

    /// Begins with the values of the former connection.
    mutating func inherit(id: String?, retry: Duration?) { (self.id, lastEventID, self.retry) = (id, id, retry) }

    /// Takes the next line.
    ///
    /// - Returns: The event that it ends, if it ends one, or the comment that it is.
    /// - Throws: ``EventTooLong``, from then on always.
    mutating func take(_ line: ArraySlice<UInt8>) throws(EventTooLong) -> Item? {
        if isTooLong { throw EventTooLong(limit: limit) }
        var line = line
        if isFirst, line.starts(with: Self.byteOrderMark) { line.removeFirst(Self.byteOrderMark.count) }
        isFirst = false
        guard !line.isEmpty else { return event().map { .event($0) } }
        let field = line.prefix { $0 != UInt8(ascii: ":") }
        var value = line.dropFirst(field.count + 1)
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: field, as: UTF8.self) {
        case "": return .comment(String(decoding: value, as: UTF8.self))
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            isTooLong = data.count + value.count > limit
            guard !isTooLong else { throw EventTooLong(limit: limit) }
            data += value
            data.append(UInt8(ascii: "\n"))
        case "id":
            // The standard leaves out only zero bytes; others could not be sent when the client connects again.
            let text = String(decoding: value, as: UTF8.self)
            if HTTP.Headers.isLegal(value: text) { id = text }
        case "retry": retry = Self.milliseconds(value).map { .milliseconds($0) } ?? retry
        default: break
        }
        return nil
    }

    /// What the lines since the last event make; nothing without data.
    mutating func event() -> ServerSentEvent? {
        defer { (name, data) = ("", []) }
        lastEventID = id
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            event: name.isEmpty ? "message" : name,
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
