package import FoundationEssentials

/// Bytes in memory as a body source.
package final class BytesBodySource: HTTPBodySource {
    private let bytes: Data
    private let position = Lock(0)

    package init(_ bytes: Data) { self.bytes = bytes }

    package var length: Int64? { Int64(bytes.count) }

    package func next(upTo count: Int) -> HTTPBodyChunk {
        let piece = position.withLock { position in
            let piece = bytes.dropFirst(position).prefix(count)
            position += piece.count
            return piece
        }
        return piece.isEmpty ? .end : .bytes(piece)
    }

    package func rewind() -> Bool {
        position.withLock { $0 = 0 }
        return true
    }

    package func close() {}
}
