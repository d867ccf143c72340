public import FoundationEssentials

/// Decodings of streams, which decode each piece when it arrives.
extension ModelDecoding where Metadata: HTTPResponseConvertible {
    /// The lines of a text, without their ends (LF or CRLF), as they arrive.
    ///
    /// - Parameter limit: The most bytes of one line; a longer one fails with ``LineTooLong``.
    /// - Returns: The decoding.
    public static func lines<E>(upTo limit: Int = 1 << 20) -> Self
    where T == LineStream<HTTPFetchError<Metadata, E>>, Payload == ByteStream<HTTPFetchError<Metadata, E>> {
        Self { stream, response in
            LineStream(stream, limit: limit) { .undecodable($0, response) }
        }
    }

    /// The values of JSON lines (one JSON text per line), as they arrive; empty lines are left out.
    ///
    /// - Parameters:
    ///   - type: The value of one line.
    ///   - limit: The most bytes of one line; a longer one fails with ``LineTooLong``.
    ///   - decoder: Makes a decoder for the stream.
    /// - Returns: The decoding.
    public static func jsonLines<Value: Decodable & SendableMetatype, E>(
        _ type: Value.Type = Value.self,
        upTo limit: Int = 1 << 20,
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> Self
    where
        T == JSONLineStream<Value, HTTPFetchError<Metadata, E>>, Payload == ByteStream<HTTPFetchError<Metadata, E>>
    {
        Self { stream, response in
            JSONLineStream(lines: LineStream(stream, limit: limit) { .undecodable($0, response) }, decoder: decoder)
        }
    }

    /// Server-sent events (`text/event-stream`) of one response, as they arrive, by the HTML Living Standard, section 9.2. To
    /// connect again at its end, use ``HTTPNetworkStack/events(from:reconnects:reconnection:options:)``.
    ///
    /// A response with another `Content-Type`, or without one, fails with ``NotAnEventStream``, which has the body, such as an
    /// error in JSON. A 204 or 205, which has no body, is a stream without events.
    ///
    /// - Parameters:
    ///   - limit: The most bytes of one event's data, and of any line; more fails with ``EventTooLong`` or ``LineTooLong``.
    ///   - options: Where to depart from the standard.
    ///   - onComment: Called with each comment, which servers send as keep-alives, without the space after the colon. The task that
    ///     reads the events calls it, in their order. It must not block.
    /// - Returns: The decoding. It throws ``NotAnEventStream``.
    public static func serverSentEvents<E>(
        upTo limit: Int = 1 << 20,
        options: ServerSentEventOptions = [],
        onComment: (@Sendable (String) -> Void)? = nil
    ) -> Self
    where T == ServerSentEventStream<HTTPFetchError<Metadata, E>>, Payload == ByteStream<HTTPFetchError<Metadata, E>> {
        Self { stream, response in
            if !options.contains(.anyContentType), let head = response.httpResponse,
                head.status != .noContent, head.status != .resetContent,
                case let type = head.headers.contentType, type?.essence != HTTP.MediaType.eventStream.essence
            {
                throw NotAnEventStream(contentType: type, body: stream)
            }
            return ServerSentEventStream(stream, limit: limit, options: options, onComment: onComment) {
                .undecodable($0, response)
            }
        }
    }
}

/// A line of a stream was longer than its limit.
public struct LineTooLong: DescribedError, Hashable {
    /// The limit, in bytes.
    public let limit: Int

    /// Makes the error, for tests of code that handles it.
    ///
    /// - Parameter limit: The limit, in bytes.
    public init(limit: Int) { self.limit = limit }

    /// What happened.
    public var description: String { "A line of the stream is longer than the limit of \(limit) bytes." }
}

extension ByteStream {
    /// The lines of a text, without their ends (LF or CRLF), as they arrive. Read either them or the stream: it has one reader.
    ///
    /// - Parameter limit: The most bytes of one line; a longer one fails with the stream's error for more bytes than its limit
    ///   (``HTTPFetchError/bodyTooLarge(limit:_:)``).
    /// - Returns: The lines.
    public func lines(upTo limit: Int = 1 << 20) -> LineStream<Failure> {
        LineStream(self, limit: limit) { _ in .longerThan(limit: Int64(limit)) }
    }
}

/// The lines of a stream as they arrive. The last one needs no line feed.
public struct LineStream<Failure: ByteStreamFailure>: AsyncSequence, Sendable {
    /// A line.
    public typealias Element = String

    private let reader: LineReader<Failure>

    init(_ stream: ByteStream<Failure>, limit: Int, undecodable: @escaping @Sendable (any Error) -> Failure) {
        reader = LineReader(stream, ending: .lineFeeds, limit: limit, undecodable: undecodable)
    }

    /// Returns an iterator that continues where the stream stands.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

    /// Reads line by line.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: LineReader<Failure>

        /// The next line, as UTF-8; invalid bytes are replaced.
        ///
        /// - Parameter actor: Where the caller runs.
        /// - Returns: The line, or `nil` at the end.
        /// - Throws: The stream's failure; for a line that is too long, the error that ``ByteStream/lines(upTo:)`` or
        ///   ``ModelDecoding/lines(upTo:)`` names; ``HTTPFetchError/concurrentRead`` if another task reads the next line.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> String? {
            try await reader.next().map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// The values of JSON lines as they arrive.
public struct JSONLineStream<Value: Decodable & SendableMetatype, Failure: ByteStreamFailure>: AsyncSequence, Sendable {
    /// A value of one line.
    public typealias Element = Value

    let lines: LineStream<Failure>
    let decoder: @Sendable () -> JSONDecoder

    /// Returns an iterator that continues where the stream stands.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(lines: lines.makeAsyncIterator(), decoder: decoder())
    }

    /// Reads value by value.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var lines: LineStream<Failure>.AsyncIterator
        fileprivate let decoder: JSONDecoder

        /// The next value.
        ///
        /// - Returns: The value, or `nil` at the end.
        /// - Throws: The stream's failure; ``HTTPFetchError/undecodable(_:_:)`` with ``LineTooLong`` or the decoder's error;
        ///   ``HTTPFetchError/concurrentRead`` if another task reads the next line.
        public mutating func next() async throws(Failure) -> Value? {
            while let line = try await lines.next() {
                if line.allSatisfy(\.isWhitespace) { continue }
                do { return try decoder.decode(Value.self, from: Data(line.utf8)) } catch {
                    throw lines.reader.undecodable(error)
                }
            }
            return nil
        }
    }
}
