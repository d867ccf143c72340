internal import FoundationEssentials

/// Bytes in memory as a body source.
final class BytesBodySource: HTTPBodySource {
    private let bytes: Data
    private let position = Lock(0)

    init(_ bytes: Data) { self.bytes = bytes }

    var length: Int64? { Int64(bytes.count) }

    func next(upTo count: Int) -> HTTPBodyChunk {
        let piece = position.withLock { position in
            let piece = bytes.dropFirst(position).prefix(count)
            position += piece.count
            return piece
        }
        return piece.isEmpty ? .end : .bytes(piece)
    }

    func rewind() -> Bool {
        position.withLock { $0 = 0 }
        return true
    }

    func close() {}
}
