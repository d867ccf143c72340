public import FoundationEssentials

/// The body of a response while it arrives, in chunks as they arrive.
///
/// It has one reader. A slow reader slows the server down if the stack supports that (``HTTP/Capability/backPressure``): at most
/// about 256 KiB are buffered, and a few hundred KiB more in the backend, over HTTP/2 up to the 32 MB of libcurl's window. Other
/// stacks buffer up to ``HTTP/Options/Limits/body``. Releasing the last reference to a stream cancels its transfer.
///
/// It ends with `nil` when the body is complete, or throws the stack's `FetchError`.
public struct ByteStream<Failure: ByteStreamFailure>: AsyncSequence, Sendable {
    /// A chunk, never empty.
    public typealias Element = Data

    private let read: @Sendable () async throws(Failure) -> Data?
    private let end: @Sendable () -> (trailers: HTTP.Headers?, metrics: HTTP.Metrics?)
    private let abandon: @Sendable () -> Void

    /// Makes a stream from a closure, such as for a test.
    ///
    /// A cancelled task cancels the stream, as it does that of a response, but does not interrupt the closure: one that waits has
    /// to end its wait when its task is cancelled.
    ///
    /// - Parameter next: Returns the next chunk, or `nil` at the end. Empty chunks are skipped. One task at a time calls it, and
    ///   none that is cancelled already. It is called again only after it has returned a chunk: after its end, the stream ends
    ///   with `nil`, and its error is thrown again by each read. If its task is cancelled meanwhile, `nil` is no end, because a
    ///   cancelled sequence may just end: the stream fails with ``HTTPFetchError/cancelled``.
    public init(unfolding next: @escaping @Sendable () async throws(Failure) -> Data?) {
        let state = Lock(UnfoldingState())
        read = { () async throws(Failure) in
            let (isReading, isOver, failure) = state.withLock { state in
                (exchange(&state.isReading, with: true), state.isOver, state.failure)
            }
            guard !isReading else { throw .concurrentRead }
            defer { state.withLock { $0.isReading = false } }
            if let failure { throw failure }
            do throws(Failure) {
                if !isOver, !Task.isCancelled, let chunk = try await next() { return chunk }
                if Task.isCancelled { throw .cancelled }
                state.withLock { $0.isOver = true }
                return nil
            } catch {
                state.withLock { $0.failure = error }
                throw error
            }
        }
        end = { (nil, nil) }
        abandon = { state.withLock { $0.failure = $0.failure ?? Failure.cancelled } }
    }

    /// What a stream made from a closure has come to.
    private struct UnfoldingState {
        var isReading = false
        var isOver = false
        var failure: Failure?
    }

    /// Makes a stream with one chunk.
    ///
    /// - Parameter data: The bytes.
    public init(_ data: Data) {
        let rest = Lock<Data?>(data)
        self.init { rest.withLock { $0.take() } }
    }

    /// Makes the stream of a response.
    init(_ receiver: StreamReceiver) {
        let holder = StreamHolder(receiver)
        read = { () async throws(Failure) in
            do { return try await holder.receiver.next() } catch { throw Self.failure(of: error) }
        }
        end = { (holder.receiver.trailers, holder.receiver.metrics) }
        abandon = { holder.receiver.abandon() }
    }

    /// Makes a stream from another, and converts its errors.
    init<Other>(_ other: ByteStream<Other>, mapError transform: @escaping @Sendable (Other) -> Failure) {
        read = { () async throws(Failure) in
            do throws(Other) { return try await other.read() } catch { throw transform(error) }
        }
        (end, abandon) = (other.end, other.abandon)
    }

    private static func failure(of error: any Error) -> Failure {
        error as? Failure ?? (error is ConcurrentRead ? .concurrentRead : .cancelled)
    }

    /// The trailers, after the stream has ended, if there were any.
    public var trailers: HTTP.Headers? { end().trailers }

    /// The metrics of the fetch, after the stream has ended without an error.
    public var metrics: HTTP.Metrics? { end().metrics }

    /// Collects the rest of the body.
    ///
    /// - Parameter limit: The most bytes to collect.
    /// - Returns: The bytes.
    /// - Throws: The stream's failure; ``HTTPFetchError/bodyTooLarge(limit:_:)`` if there are more bytes than the limit, which
    ///   cancels the stream.
    public func collect(upTo limit: Int64 = 1 << 30) async throws(Failure) -> Data {
        var body = Data()
        var iterator = makeAsyncIterator()
        while let chunk = try await iterator.next() {
            guard Int64(body.count) + Int64(chunk.count) <= limit else {
                abandon()
                throw .longerThan(limit: limit)
            }
            body.append(chunk)
        }
        return body
    }

    /// The stream byte by byte.
    public var bytes: Bytes { Bytes(chunks: self) }

    /// Returns an iterator that continues where the stream stands.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(read: read) }

    /// Reads a stream chunk by chunk. A cancelled task cancels the stream when it reads the next chunk, also if the whole body has
    /// arrived.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let read: @Sendable () async throws(Failure) -> Data?

        /// The next chunk, never empty.
        ///
        /// - Parameter actor: Where the caller runs.
        /// - Returns: The chunk, or `nil` when the body is complete.
        /// - Throws: The stream's failure: ``HTTPFetchError/cancelled`` if the task is cancelled,
        ///   ``HTTPFetchError/concurrentRead`` if another task waits for the next chunk.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Data? {
            while let chunk = try await read() { if !chunk.isEmpty { return chunk } }
            return nil
        }
    }

    /// The bytes of a stream, one by one.
    public struct Bytes: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8

        fileprivate let chunks: ByteStream

        /// Returns an iterator that continues where the stream stands. It keeps the rest of the current chunk.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: chunks.makeAsyncIterator()) }

        /// Reads byte by byte.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var chunks: ByteStream.AsyncIterator
            private var chunk = Data()[...]

            fileprivate init(chunks: ByteStream.AsyncIterator) { self.chunks = chunks }

            /// The next byte.
            ///
            /// - Parameter actor: Where the caller runs.
            /// - Returns: The byte, or `nil` when the body is complete.
            /// - Throws: The stream's failure.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> UInt8? {
                if let byte = chunk.popFirst() { return byte }
                chunk = try await chunks.next(isolation: actor) ?? Data()
                return chunk.popFirst()
            }
        }
    }
}

/// Two tasks wait for the next chunk of one stream. The second fails with this; the first continues.
struct ConcurrentRead: Error {}

/// Cancels the transfer of a stream when the last reference to the stream is released.
private final class StreamHolder: Sendable {
    let receiver: StreamReceiver

    init(_ receiver: StreamReceiver) { self.receiver = receiver }

    deinit { receiver.abandon() }
}
