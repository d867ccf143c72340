/// A body that is produced anew whenever its transport returns to the first byte.
final class ReplayableBodySource: HTTPBodySource {
    private struct State {
        var source: StreamBodySource
        var isClosed = false
    }

    private let make: @Sendable () -> StreamBodySource
    private let state: Lock<State>

    init(_ make: @escaping @Sendable () -> StreamBodySource) {
        self.make = make
        state = Lock(State(source: make()))
    }

    private var current: StreamBodySource { state.withLock { $0.source } }

    var length: Int64? { current.length }
    var trailers: HTTP.Headers? { current.trailers }

    func next(upTo count: Int) -> HTTPBodyChunk { current.next(upTo: count) }

    func rewind() -> Bool {
        if current.rewind() { return true }
        let next = make()
        // The exchange may end, and close this, while its transport rewinds.
        let (last, isClosed) = state.withLock { state in
            guard !state.isClosed else { return (next, true) }
            return (exchange(&state.source, with: next), false)
        }
        last.close()
        return !isClosed
    }

    func close() {
        let last = state.withLock { state in
            state.isClosed = true
            return state.source
        }
        last.close()
    }
}
