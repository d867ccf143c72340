internal import FoundationEssentials

/// Moves a request's body from its source to a library that takes one chunk at a time. There is never a second chunk before the
/// first was written.
final class BodyPump: Sendable {
    private struct State {
        /// Whether a thread asks the source, or is within `write`.
        var isRunning = false
        /// Whether the source has to be asked again, because it got more bytes meanwhile.
        var asksAgain = false
        /// Whether the library has a chunk that is not written yet.
        var isWriting = false
        var isEnded = false
        var isReading = false
        /// Called after the read under way.
        var onRest: (@Sendable () -> Void)?

        /// Decides, at the end of a turn, whether there is another one: if the chunk was written at once, or if the source had
        /// no bytes and got some meanwhile.
        mutating func goesOn(isPending: Bool) -> Bool {
            isRunning = !isEnded && !isWriting && (asksAgain || !isPending)
            asksAgain = false
            return isRunning
        }
    }

    /// Writes a chunk, and calls a closure when that is done.
    typealias Write = @Sendable (Data, @escaping @Sendable () -> Void) -> Void

    private let source: any HTTPBodySource
    private let pieceSize: Int
    private let write: Write
    private let end: @Sendable ((any Error)?) -> Void
    private let state = Lock(State())

    /// Makes a pump, which moves nothing before ``resume()``.
    ///
    /// - Parameters:
    ///   - source: The body.
    ///   - pieceSize: The most bytes of a chunk.
    ///   - write: Writes a chunk.
    ///   - end: Called once, unless the pump was stopped: with `nil` after the last chunk, or with the source's error.
    init(
        _ source: any HTTPBodySource,
        pieceSize: Int,
        write: @escaping Write,
        end: @escaping @Sendable ((any Error)?) -> Void
    ) {
        self.source = source
        self.pieceSize = pieceSize
        self.write = write
        self.end = end
    }

    /// Begins, or goes on after the source had no bytes.
    func resume() {
        let begins = state.withLock { state in
            guard !state.isEnded, !state.isWriting, !state.isRunning else {
                state.asksAgain = true
                return false
            }
            state.isRunning = true
            return true
        }
        if begins { run() }
    }

    /// Moves nothing more, and calls neither closure again.
    ///
    /// - Parameter onRest: Called when the source is not read any more: at once, or after the read under way.
    func stop(_ onRest: @escaping @Sendable () -> Void = {}) {
        let isReading = state.withLock { state in
            state.isEnded = true
            if state.isReading { state.onRest = onRest }
            return state.isReading
        }
        if !isReading { onRest() }
    }

    /// Reads the next chunk.
    ///
    /// - Returns: The chunk, or `nil` after the end.
    private func read() -> HTTPBodyChunk? {
        let begins = state.withLock { state in
            state.isReading = !state.isEnded
            return state.isReading
        }
        guard begins else { return nil }
        let chunk = source.next(upTo: pieceSize)
        let onRest = state.withLock { state in
            state.isReading = false
            return state.onRest.take()
        }
        onRest?()
        return chunk
    }

    /// The library has written a chunk and takes the next one.
    private func written() {
        let goesOn = state.withLock { state in
            state.isWriting = false
            guard !state.isEnded, !state.isRunning else { return false }
            state.isRunning = true
            return true
        }
        if goesOn { run() }
    }

    /// Asks the source until it has no bytes, or the library does not take more.
    private func run() {
        var isPending: Bool
        repeat {
            isPending = false
            switch read() {
            case .bytes(let data):
                let isWanted = state.withLock { state in
                    state.isWriting = true
                    return !state.isEnded
                }
                if isWanted { write(data) { self.written() } }
            case .pending: isPending = true
            case .end: finish(nil)
            case .failed(let error): finish(error)
            case nil: break
            }
        } while state.withLock { $0.goesOn(isPending: isPending) }
    }

    private func finish(_ error: (any Error)?) {
        if !state.withLock({ exchange(&$0.isEnded, with: true) }) { end(error) }
    }
}
