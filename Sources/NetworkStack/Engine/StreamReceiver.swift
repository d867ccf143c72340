internal import FoundationEssentials

/// Buffers the body between a transfer and its reader, with a limit, and keeps how it ended.
///
/// The transfer is asked to hold back when more than the high mark waits, and to go on when less than the low mark does.
@usableFromInline
final class StreamReceiver: Sendable {
    private enum End {
        case finished
        case failed(any Error)
    }

    private struct State {
        var chunks = ChunkQueue()
        var end: End?
        var trailers: HTTP.Headers?
        var metrics: HTTP.Metrics?
        var isHeldBack = false
        var isAbandoned = false
        /// Where a reader waits.
        var waiter: OneShot<Void>?
        weak var loop: FetchLoop?
        /// The failure of a cancelled stream.
        var cancelled: any Error = CancellationError()
    }

    private static let highMark = 256 * 1024
    private static let lowMark = 64 * 1024

    private let state = Lock(State())
    private let batch: ResumeBatch?

    /// - Parameter batch: That of the thread that delivers, if it has one.
    init(batch: ResumeBatch? = nil) { self.batch = batch }

    /// Stores the fetch to resume when there is room, and the stack's error of a stream that is cancelled.
    func attach(_ loop: FetchLoop, cancelled: any Error) {
        state.withLock { ($0.loop, $0.cancelled) = (loop, cancelled) }
    }

    // MARK: The transfer's side

    /// Takes a chunk. Returns whether there is room for more.
    func take(_ chunk: Data) -> Bool {
        let (waiter, hasRoom) = state.withLock { state -> (OneShot<Void>?, Bool) in
            guard state.end == nil else { return (nil, true) }
            state.chunks.append(chunk)
            // It stays set until the reader gets below the low mark, because only the reader resumes the transfer.
            if state.chunks.count > Self.highMark { state.isHeldBack = true }
            return (state.waiter.take(), !state.isHeldBack)
        }
        waiter?.fill((), in: batch)
        return hasRoom
    }

    /// Whether the transfer need not hold back.
    var hasRoom: Bool { state.withLock { !$0.isHeldBack } }

    /// Whether more than this many bytes wait.
    func exceeds(_ limit: Int64) -> Bool { state.withLock { $0.chunks.count > limit } }

    /// The body is complete.
    func finish(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        let waiter = state.withLock { state -> OneShot<Void>? in
            guard state.end == nil else { return nil }
            state.end = .finished
            (state.trailers, state.metrics) = (trailers, metrics)
            return state.waiter.take()
        }
        waiter?.fill((), in: batch)
    }

    /// Ends the body with an error, unless it is complete. Chunks that came before can still be read. Returns `false` if the body
    /// was complete.
    @discardableResult
    func fail(_ error: any Error) -> Bool {
        let (waiter, fails) = state.withLock { state -> (OneShot<Void>?, Bool) in
            if case .finished = state.end { return (nil, false) }
            guard state.end == nil else { return (nil, true) }
            state.end = .failed(error)
            return (state.waiter.take(), true)
        }
        waiter?.fill((), in: batch)
        return fails
    }

    // MARK: The reader's side

    var trailers: HTTP.Headers? { state.withLock { $0.trailers } }
    var metrics: HTTP.Metrics? { state.withLock { $0.metrics } }

    /// The next chunk, or `nil` at the end of a complete body.
    func next() async throws -> Data? {
        while true {
            try checkCancellation()
            let (chunk, end, loop) = state.withLock { state -> (Data?, End?, FetchLoop?) in
                guard let chunk = state.chunks.popFirst() else { return (nil, state.end, nil) }
                guard state.isHeldBack, state.chunks.count < Self.lowMark else { return (chunk, nil, nil) }
                state.isHeldBack = false
                return (chunk, nil, state.loop)
            }
            loop?.readerResumed()
            if let chunk { return chunk }
            switch end {
            case .finished: return nil
            case .failed(let error): throw error
            case .none: try await wait()
            }
        }
    }

    private func wait() async throws {
        let waiter = OneShot<Void>()
        let waits = try state.withLock { state throws(ConcurrentRead) in
            guard state.end == nil, state.chunks.count == 0 else { return false }
            guard state.waiter == nil else { throw ConcurrentRead() }
            state.waiter = waiter
            return true
        }
        guard waits else { return }
        await withTaskCancellationHandler {
            await waiter.take()
        } onCancel: {
            abandon()
        }
    }

    /// Cancels the stream if the task that reads it is cancelled, however much of it is there.
    private func checkCancellation() throws {
        guard Task.isCancelled else { return }
        abandon()
        if case .failed(let error) = state.withLock({ $0.end }) { throw error }
    }

    /// Whether the reader has gone.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// The reader has gone: drops what is there, and cancels the rest.
    func abandon() {
        let (waiter, loop) = state.withLock { state -> (OneShot<Void>?, FetchLoop?) in
            (state.chunks, state.isAbandoned) = (ChunkQueue(), true)
            let loop = state.end == nil ? state.loop : nil
            if case .failed = state.end {} else { state.end = .failed(state.cancelled) }
            return (state.waiter.take(), loop)
        }
        loop?.readerLeft()
        waiter?.fill((), in: batch)
    }
}
