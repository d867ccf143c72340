/// Content that is pumped in anew whenever its transport goes back to the first byte.
final class ReplayableBodySource: HTTPBodySource {
    private let make: @Sendable () -> StreamBodySource
    private let source: Lock<StreamBodySource>

    init(_ make: @escaping @Sendable () -> StreamBodySource) {
        self.make = make
        source = Lock(make())
    }

    private var current: StreamBodySource { source.withLock { $0 } }

    var length: Int64? { current.length }
    var trailers: HTTP.Headers? { current.trailers }

    func next(upTo count: Int) -> HTTPBodyChunk { current.next(upTo: count) }

    func rewind() -> Bool {
        if current.rewind() { return true }
        let next = make()
        let last = source.withLock { source in
            defer { source = next }
            return source
        }
        last.close()
        return true
    }

    func close() { current.close() }
}
