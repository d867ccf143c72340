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
}

/// The events of a stream as they come. An event that the end of the stream cuts short is not told.
public struct ServerSentEventStream: AsyncSequence, Sendable {
    private let lines: LineStream

    init(_ lines: LineStream) { self.lines = lines }

    /// Reads on where the stream stands.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(lines: lines.makeAsyncIterator()) }

    /// Reads event by event.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var lines: LineStream.AsyncIterator
        private var id = ""
        private var retry: Duration?
        private var isFirst = true

        fileprivate init(lines: LineStream.AsyncIterator) { self.lines = lines }

        /// The next event.
        ///
        /// - Returns: The event, or `nil` at the end.
        /// - Throws: ``ByteStream/Failed`` or ``LineTooLong``.
        public mutating func next() async throws -> ServerSentEvent? {
            var (name, data) = ("", [String]())
            while var line = try await lines.next() {
                if isFirst, line.hasPrefix("\u{FEFF}") { line.removeFirst() }
                isFirst = false
                if line.isEmpty {
                    guard !data.isEmpty else {
                        name = ""
                        continue
                    }
                    return ServerSentEvent(
                        name: name.isEmpty ? "message" : name,
                        data: data.joined(separator: "\n"),
                        id: id,
                        retry: retry
                    )
                }
                let colon = line.firstIndex(of: ":")
                let field = line[..<(colon ?? line.endIndex)]
                var value = colon.map { line[line.index(after: $0)...] } ?? ""
                if value.first == " " { value.removeFirst() }
                switch field {
                case "event": name = String(value)
                case "data": data.append(String(value))
                case "id": if !value.contains("\0") { id = String(value) }
                case "retry":
                    if value.allSatisfy({ $0.isASCII && $0.isNumber }), let milliseconds = Int64(value) {
                        retry = .milliseconds(milliseconds)
                    }
                default: break
                }
            }
            return nil
        }
    }
}
