public import FoundationEssentials

/// The content of a response while it arrives, in pieces as they come.
///
/// It has one reader. A slow reader slows the server down where the stack can do that (``HTTP/Capability/backPressure``): at most
/// about 256 KiB wait for it, and a few hundred more in the backend, over HTTP/2 up to the 32 MB of libcurl's window. Elsewhere
/// waits what has come, up to ``HTTP/Options/Limits/body``. A stream that nobody holds any more is given up, and with it its
/// connection or HTTP/2 stream.
///
/// It ends in one of two ways: with `nil` when the content is whole, or by throwing ``Failed``.
public struct ByteStream: AsyncSequence, Sendable {
    /// The content did not come whole.
    public struct Failed: Error, CustomStringConvertible {
        /// Why: the `FetchError` of the stack that fetched, ``ConcurrentRead``, or what the one who used the stream met:
        /// ``TooLong``, or a ``FileError`` of a download.
        public let underlying: any Error

        /// Makes one.
        ///
        /// - Parameter underlying: Why the content did not come whole.
        public init(underlying: any Error) { self.underlying = underlying }

        /// Why the content did not come whole.
        public var description: String { "The content did not come whole: \(underlying)" }
    }

    /// Two tasks wait for the same stream's next piece. The second fails with this, and the first goes on.
    public struct ConcurrentRead: Error, Hashable, CustomStringConvertible {
        /// Makes the error, for tests of who is to handle it.
        public init() {}

        /// What to do about it.
        public var description: String { "Another task waits for this stream's next piece; a stream has one reader." }
    }

    /// The content is longer than the reader collects.
    public struct TooLong: Error, Hashable, CustomStringConvertible {
        /// The most bytes that were to be collected.
        public let limit: Int64

        /// Makes the error, for tests of code that handles it.
        ///
        /// - Parameter limit: The most bytes that were to be collected.
        public init(limit: Int64) { self.limit = limit }

        /// What happened.
        public var description: String { "The content is longer than the \(limit) bytes that were to be collected." }
    }

    /// Gives a stream up when nobody holds it any more.
    fileprivate final class Holder: Sendable {
        let receiver: StreamReceiver

        init(_ receiver: StreamReceiver) { self.receiver = receiver }

        deinit { receiver.abandon() }
    }

    private let holder: Holder

    init(_ receiver: StreamReceiver) { holder = Holder(receiver) }

    /// The fields that followed the content, once the stream has ended and if there were any.
    public var trailers: HTTP.Headers? { holder.receiver.trailers }

    /// What the fetch took, once the stream has ended well.
    public var metrics: HTTP.Metrics? { holder.receiver.metrics }

    /// Collects what is still to come.
    ///
    /// - Parameter limit: The most bytes to collect.
    /// - Returns: The content.
    /// - Throws: ``Failed``, also when there is more than the limit, with ``TooLong``.
    public func collect(upTo limit: Int64 = 1 << 30) async throws(Failed) -> Data {
        var content = Data()
        var iterator = makeAsyncIterator()
        while let chunk = try await iterator.next() {
            guard Int64(content.count) + Int64(chunk.count) <= limit else {
                holder.receiver.abandon()
                throw Failed(underlying: TooLong(limit: limit))
            }
            content.append(chunk)
        }
        return content
    }

    /// Reads on where the stream stands.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(holder: holder) }

    /// Reads a stream piece by piece. A task that is cancelled gives the stream up where it reads, or would read, the next
    /// piece, also when all of the content has come.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let holder: Holder

        fileprivate init(holder: Holder) { self.holder = holder }

        /// The next piece, never empty.
        ///
        /// - Returns: The piece, or `nil` when the content has come whole.
        /// - Throws: ``ByteStream/Failed``.
        public mutating func next() async throws(Failed) -> Data? {
            do { return try await holder.receiver.next() } catch { throw Failed(underlying: error) }
        }

        /// The next piece, never empty.
        ///
        /// - Parameter actor: Where the caller runs.
        /// - Returns: The piece, or `nil` when the content has come whole.
        /// - Throws: ``ByteStream/Failed``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failed) -> Data? {
            do { return try await holder.receiver.next() } catch { throw Failed(underlying: error) }
        }
    }
}
