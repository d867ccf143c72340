public import FoundationEssentials

/// Decodings of streams: lazy, piece by piece.
extension ModelDecoding where Payload == ByteStream {
    /// The lines of a text, without their ends (LF or CRLF), as they come.
    ///
    /// - Parameter limit: The most bytes of one line; a longer one fails with ``LineTooLong``.
    /// - Returns: The decoding.
    public static func lines(upTo limit: Int = 1 << 20) -> Self where T == LineStream {
        Self { stream, _ in LineStream(stream, limit: limit) }
    }

    /// The values of JSON lines (one JSON text per line), as they come; empty lines are left out.
    ///
    /// - Parameters:
    ///   - type: The value of one line.
    ///   - limit: The most bytes of one line; a longer one fails with ``LineTooLong``.
    ///   - decoder: Makes a decoder for the stream.
    /// - Returns: The decoding.
    public static func jsonLines<Value: Decodable & SendableMetatype>(
        _ type: Value.Type = Value.self,
        upTo limit: Int = 1 << 20,
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> Self where T == JSONLineStream<Value> {
        Self { stream, _ in JSONLineStream(LineStream(stream, limit: limit), decoder: decoder) }
    }

    /// Server-sent events (`text/event-stream`), as they come, by the HTML Living Standard, section 9.2.
    ///
    /// A response of another `Content-Type`, or of none, fails with ``NotAnEventStream``, which carries the content: an error in
    /// JSON under a status of success is found at once. A 204 or 205, which has no content, is a stream without events.
    ///
    /// - Parameters:
    ///   - limit: The most bytes of one event's data, and of any line; more fails with ``EventTooLong`` or ``LineTooLong``.
    ///   - options: Where to depart from the standard.
    ///   - onComment: Called with each comment, which servers send as keep-alives: by the task that reads the events, in their
    ///     order, and without the space after the colon. It must not block.
    /// - Returns: The decoding. It throws ``NotAnEventStream``.
    public static func serverSentEvents(
        upTo limit: Int = 1 << 20,
        options: ServerSentEventStream.Options = [],
        onComment: (@Sendable (String) -> Void)? = nil
    ) -> Self where T == ServerSentEventStream {
        Self { stream, metadata in
            if !options.contains(.anyContentType),
                let response = (metadata as? any HTTPResponseConvertible)?.httpResponse,
                response.status != .noContent, response.status != .resetContent,
                case let type = response.headers.contentType, type?.essence != HTTP.MediaType.eventStream.essence
            {
                throw NotAnEventStream(contentType: type, content: stream)
            }
            return ServerSentEventStream(stream, limit: limit, options: options, onComment: onComment)
        }
    }
}

/// A line of a stream was longer than its limit.
public struct LineTooLong: Error, Hashable, CustomStringConvertible {
    /// The limit, in bytes.
    public let limit: Int

    /// Makes the error, for tests of who is to handle it.
    ///
    /// - Parameter limit: The limit, in bytes.
    public init(limit: Int) { self.limit = limit }

    /// What happened.
    public var description: String { "A line of the stream is longer than the limit of \(limit) bytes." }
}

/// The lines of a stream as they come. The last one counts also without an end.
public struct LineStream: AsyncSequence, Sendable {
    private let lines: LineReader

    init(_ stream: ByteStream, limit: Int) { lines = LineReader(stream, ending: .lineFeeds, limit: limit) }

    /// Reads on where the stream stands.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(lines) }

    /// Reads line by line.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let lines: LineReader

        fileprivate init(_ lines: LineReader) { self.lines = lines }

        /// The next line, as UTF-8; bytes that are none are replaced.
        ///
        /// - Returns: The line, or `nil` at the end.
        /// - Throws: ``ByteStream/Failed`` or ``LineTooLong``.
        public mutating func next() async throws -> String? {
            try await lines.next().map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// The values of JSON lines as they come.
public struct JSONLineStream<Value: Decodable & SendableMetatype>: AsyncSequence, Sendable {
    /// A value of one line.
    public typealias Element = Value

    private let lines: LineStream
    private let decoder: @Sendable () -> JSONDecoder

    init(_ lines: LineStream, decoder: @escaping @Sendable () -> JSONDecoder) {
        self.lines = lines
        self.decoder = decoder
    }

    /// Reads on where the stream stands.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(lines: lines.makeAsyncIterator(), decoder: decoder())
    }

    /// Reads value by value.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var lines: LineStream.AsyncIterator
        fileprivate let decoder: JSONDecoder

        /// The next value.
        ///
        /// - Returns: The value, or `nil` at the end.
        /// - Throws: ``ByteStream/Failed``, ``LineTooLong``, or what the decoder throws.
        public mutating func next() async throws -> Value? {
            while let line = try await lines.next() {
                if line.allSatisfy(\.isWhitespace) { continue }
                return try decoder.decode(Value.self, from: Data(line.utf8))
            }
            return nil
        }
    }
}
