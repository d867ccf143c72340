internal import Dispatch
internal import FoundationEssentials

/// Content that a task pumps in while a transport takes it out.
///
/// Between the two lies at most one chunk more than `capacity`: the pump waits for room, the transport for bytes.
final class StreamBodySource: HTTPBodySource {
    private struct State {
        /// What is left of the chunk that is being taken.
        var current = Data()
        var chunks = ChunkQueue()
        var total: Int64 = 0
        var verdict: HTTPBodyChunk?
        var trailers: HTTP.Headers?
        var isReaderWaiting = false
        var isClosed = false
        var room: Handover<Void>?
        var task: Task<Void, Never>?

        /// How many bytes wait.
        var count: Int { current.count + chunks.count }

        mutating func take(upTo limit: Int) -> Data? {
            if current.isEmpty { current = chunks.popFirst() ?? Data() }
            guard !current.isEmpty else { return nil }
            let taken = current.prefix(limit)
            current = taken.count < current.count ? current.dropFirst(limit) : Data()
            return taken
        }
    }

    private static let capacity = 256 * 1024

    let length: Int64?
    /// The length that the content must have, whether or not a transport is told.
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
        // Only content in chunks can have trailers.
        self.length = trailers == nil ? length : nil
        self.onReady = onReady
        let task = Task { [weak self] in
            do {
                guard let source = self else { return }
                try await pump(source)
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

    /// Adds bytes, and waits while there are enough.
    func send(_ chunk: Data) async throws {
        guard !chunk.isEmpty else { return }
        let (wakes, room) = try state.withLock { state throws in
            guard !state.isClosed else { throw CancellationError() }
            state.total += Int64(chunk.count)
            if let declared, state.total > declared { throw BodyLengthError(declared: declared, actual: state.total) }
            state.chunks.append(chunk)
            if state.count >= Self.capacity { state.room = Handover() }
            defer { state.isReaderWaiting = false }
            return (state.isReaderWaiting, state.room)
        }
        if wakes { onReady() }
        await room?.take()
    }

    private func finish(_ verdict: HTTPBodyChunk) {
        let wakes = state.withLock { state in
            // A sequence that is cancelled may just end.
            guard !state.isClosed else { return false }
            var verdict = verdict
            if case .end = verdict, let declared, state.total < declared {
                verdict = .failed(BodyLengthError(declared: declared, actual: state.total))
            }
            state.verdict = verdict
            defer { state.isReaderWaiting = false }
            return state.isReaderWaiting
        }
        if wakes { onReady() }
    }

    func next(upTo count: Int) -> HTTPBodyChunk {
        let (chunk, room): (HTTPBodyChunk, Handover<Void>?) = state.withLock { state in
            guard let taken = state.take(upTo: count) else {
                if state.verdict == nil { state.isReaderWaiting = true }
                return (state.verdict ?? .pending, nil)
            }
            return (.bytes(taken), state.count < Self.capacity ? state.room.take() : nil)
        }
        room?.fill(())
        return chunk
    }

    func rewind() -> Bool { state.withLock { $0.total == 0 } }

    func close() {
        let (task, room) = state.withLock { state in
            state.isClosed = true
            // A transport that asks before it has heard of it must not take what is left out for the end.
            state.verdict = .failed(CancellationError())
            (state.current, state.chunks) = (Data(), ChunkQueue())
            defer { (state.task, state.room) = (nil, nil) }
            return (state.task, state.room)
        }
        room?.fill(())
        // Elsewhere: whoever makes the content may do something about its end, and this is a transport's thread, or the clocks'.
        if let task { DispatchQueue.global().async { task.cancel() } }
    }
}
