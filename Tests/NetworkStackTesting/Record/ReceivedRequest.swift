/// A request as the server received it, with its order and spelling.
public struct ReceivedRequest: Sendable, CustomStringConvertible {
    /// The index of its connection, from 0.
    public let connectionIndex: Int
    /// Its index among the requests of its connection, from 0.
    public let indexOnConnection: Int
    /// When the head's last byte had been read.
    public let arrivedAt: ContinuousClock.Instant
    /// The method as sent.
    public let method: String
    /// The request target as sent: path and query, or an absolute URL for a proxy.
    public let target: String
    /// The version as sent, such as `HTTP/1.1`.
    public let version: String
    /// The fields in order, with the names as sent and the values without blanks at their ends.
    public let headers: [(name: String, value: String)]
    /// The bytes of the head with its blank line.
    public let rawHead: [UInt8]
    /// The body without chunk framing, up to the options' record limit.
    ///
    /// Empty until it has been received.
    public internal(set) var body: [UInt8] = []
    /// The body's length in bytes, also beyond the record limit.
    public internal(set) var bodyCount = 0
    /// The fields after a chunked body.
    public internal(set) var trailers: [(name: String, value: String)] = []
    /// Whether the body was read to its end; `true` at once if there is none.
    public internal(set) var isComplete = false

    /// The first value of the field, with its name in any case.
    public subscript(name: String) -> String? { values(of: name).first }

    /// All values of the field in order, with its name in any case.
    public func values(of name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The body as text; malformed UTF-8 is repaired.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// Method, target and the body's length, without header values, which may be secrets.
    public var description: String { "\(method) \(target) (connection \(connectionIndex), body \(bodyCount))" }

    /// How the end of the body is marked.
    enum Framing: Equatable {
        case none, chunked
        case length(Int)
    }

    var framing: Framing {
        if values(of: "transfer-encoding").contains(where: { $0.lowercased().contains("chunked") }) { return .chunked }
        if let length = self["content-length"].flatMap(Int.init), length > 0 { return .length(length) }
        return .none
    }

    /// Whether the client keeps the connection open for another request.
    var keepsAlive: Bool {
        let connection = self["connection"]?.lowercased() ?? ""
        return version == "HTTP/1.0" ? connection.contains("keep-alive") : !connection.contains("close")
    }
}

extension ReceivedRequest {
    /// Parses a head with its blank line; `nil` if the request line does not have three parts.
    init?(head: [UInt8], connectionIndex: Int, indexOnConnection: Int) {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: true)
        let parts = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard parts.count == 3 else { return nil }
        self.connectionIndex = connectionIndex
        self.indexOnConnection = indexOnConnection
        arrivedAt = .now
        method = String(parts[0])
        target = String(parts[1])
        version = String(parts[2])
        headers = Self.fields(lines.dropFirst())
        rawHead = head
        isComplete = framing == .none
    }

    static func fields(_ lines: some Sequence<Substring>) -> [(name: String, value: String)] {
        lines.map { line in
            let name = line.prefix { $0 != ":" }
            let value = line.dropFirst(name.count + 1)
            let trimmed = value.drop { $0 == " " || $0 == "\t" }
            let end = trimmed.lastIndex { $0 != " " && $0 != "\t" }
            return (String(name), end.map { String(trimmed[...$0]) } ?? "")
        }
    }
}
