internal import Dispatch
internal import FoundationEssentials

/// A body that a task produces and a transport consumes.
///
/// At most `capacity` bytes and one more chunk are buffered. The producer waits for room, the transport for bytes. The last byte of a
/// declared length waits for the end of the sequence: a transport that has all bytes would not ask whether there are more.
final class StreamBodySource: HTTPBodySource {
    private struct State {
        /// The rest of the chunk that is being consumed.
        var current = Data()
        var chunks = ChunkQueue()
        var total: Int64 = 0
        var verdict: HTTPBodyChunk?
        var trailers: HTTP.Headers?
        var isReaderWaiting = false
        var isClosed = false
        var room: OneShot<Void>?
        var task: Task<Void, Never>?

        /// How many bytes are buffered.
        var count: Int { current.count + chunks.count }

        /// Takes bytes, and leaves so many.
        mutating func take(upTo limit: Int, leaving held: Int) -> Data? {
            if current.isEmpty { current = chunks.popFirst() ?? Data() }
            let taken = current.prefix(max(0, min(limit, count - held)))
            guard !taken.isEmpty else { return nil }
            current = taken.count < current.count ? current.dropFirst(taken.count) : Data()
            return taken
        }
    }

    private static let capacity = 256 * 1024

    let length: Int64?
    /// The length that the body must have, whether or not the transport knows it.
    private let declared: Int64?
    private let state = Lock(State())
    private let onReady: @Sendable () -> Void

    init(
        length: Int64?,
        trailers: HTTP.Body.Trailers? = nil,
        onReady: @escaping @Sendable () -> Void,
        pump: @escaping @Sendable (StreamBodySource) async throws -> Void
    ) {
        declared = length
        // Only a body in chunks can have trailers.
        self.length = trailers == nil ? length : nil
        self.onReady = onReady
        let task = Task { [weak self] in
            do {
                guard let source = self else { return }
                try await pump(source)
                // After a cancel, the sequence may end as if it were complete.
                guard !source.state.withLock({ $0.isClosed }) else { return }
                let fields = try await trailers?.made()
                source.state.withLock { $0.trailers = fields }
                source.finish(.end)
            } catch {
                self?.finish(.failed(error))
            }
        }
        state.withLock { $0.task = task }
    }

    var trailers: HTTP.Headers? { state.withLock { $0.trailers } }

    /// How many bytes were added so far.
    var total: Int64 { state.withLock { $0.total } }

    /// Adds bytes, and waits while the buffer is full.
    func send(_ chunk: Data) async throws {
        guard !chunk.isEmpty else { return }
        let (wakes, room) = try state.withLock { state throws in
            guard !state.isClosed else { throw CancellationError() }
            state.total += Int64(chunk.count)
            if let declared, state.total > declared { throw BodyLengthError(declared: declared, actual: state.total) }
            state.chunks.append(chunk)
            if state.count >= Self.capacity { state.room = OneShot() }
            return (exchange(&state.isReaderWaiting, with: false), state.room)
        }
        if wakes { onReady() }
        await room?.take()
    }

    private func finish(_ verdict: HTTPBodyChunk) {
        let wakes = state.withLock { state in
            // A cancelled sequence may just end.
            guard !state.isClosed else { return false }
            var verdict = verdict
            if case .end = verdict, let declared, state.total < declared {
                verdict = .failed(BodyLengthError(declared: declared, actual: state.total))
            }
            state.verdict = verdict
            return exchange(&state.isReaderWaiting, with: false)
        }
        if wakes { onReady() }
    }

    func next(upTo count: Int) -> HTTPBodyChunk {
        let (chunk, room): (HTTPBodyChunk, OneShot<Void>?) = state.withLock { state in
            guard let taken = state.take(upTo: count, leaving: holdsLastByte(state) ? 1 : 0) else {
                if state.verdict == nil { state.isReaderWaiting = true }
                return (state.verdict ?? .pending, nil)
            }
            return (.bytes(taken), state.count < Self.capacity ? state.room.take() : nil)
        }
        room?.fill(())
        return chunk
    }

    private func holdsLastByte(_ state: State) -> Bool {
        if case .end = state.verdict { return false }
        return length.map { state.total >= $0 } ?? false
    }

    func rewind() -> Bool { state.withLock { $0.total == 0 } }

    func close() {
        let (task, room) = state.withLock { state in
            state.isClosed = true
            // A transport that reads before it gets the cancel must not take the missing rest for the end.
            state.verdict = .failed(CancellationError())
            (state.current, state.chunks) = (Data(), ChunkQueue())
            defer { (state.task, state.room) = (nil, nil) }
            return (state.task, state.room)
        }
        room?.fill(())
        // On another thread: cancelling may run the caller's code, and this thread is the transport's or the timers'.
        if let task { DispatchQueue.global().async { task.cancel() } }
    }
}
