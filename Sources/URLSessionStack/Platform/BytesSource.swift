internal import Foundation
internal import NetworkStack

/// Bytes as a body source.
final class BytesSource: HTTPBodySource {
    private let bytes: Data
    private let place = Lock(0)

    init(_ bytes: Data) { self.bytes = bytes }

    var length: Int64? { Int64(bytes.count) }
    var trailers: HTTP.Headers? { nil }

    func next(upTo count: Int) -> HTTPBodyChunk {
        place.withLock { place in
            let chunk = bytes.dropFirst(place).prefix(count)
            place += chunk.count
            return chunk.isEmpty ? .end : .bytes(chunk)
        }
    }

    func rewind() -> Bool {
        place.withLock { $0 = 0 }
        return true
    }

    func close() {}
}
