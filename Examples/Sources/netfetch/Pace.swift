import Foundation
import NetworkStack

/// Slows a body down to a speed (--limit-rate).
struct Pace {
    private let bytesPerSecond: Double
    private let began = ContinuousClock.now
    private var count = 0.0

    init(_ speed: ByteCount) { bytesPerSecond = Double(max(speed.bytes, 1)) }

    /// How long to wait after so many bytes more.
    mutating func delay(after bytes: Int) -> Duration {
        count += Double(bytes)
        return max(.seconds(count / bytesPerSecond) - (ContinuousClock.now - began), .zero)
    }

    /// A body that is sent at this speed.
    static func paced(_ body: HTTP.Body, _ speed: ByteCount) -> HTTP.Body {
        switch body {
        case .none, .stream: return body
        case .bytes(let data):
            return .stream(
                .init(
                    length: Int64(data.count),
                    replaying: { Chunks(speed: speed) { data.dropFirst($0).prefix($1) } }
                )
            )
        case .file(let path):
            // A file that cannot be read fails when it is sent, as without a pace.
            guard let length = LocalFile.length(path) else { return body }
            return .stream(
                .init(
                    length: length,
                    replaying: {
                        let file = try FileHandle(forReadingFrom: URL(filePath: path))
                        return Chunks(speed: speed) { try file.read(upToCount: $1) ?? Data() }
                    }
                )
            )
        }
    }

    /// Pieces of a tenth of a second each.
    private struct Chunks: AsyncSequence, Sendable {
        let speed: ByteCount
        /// Reads so many bytes at an offset, or at the place of the file.
        let read: @Sendable (_ offset: Int, _ count: Int) throws -> Data

        struct AsyncIterator: AsyncIteratorProtocol {
            let chunks: Chunks
            var pace: Pace
            var offset = 0

            mutating func next() async throws -> Data? {
                let chunk = try chunks.read(offset, Int(clamping: Swift.max(chunks.speed.bytes / 10, 1)))
                offset += chunk.count
                guard !chunk.isEmpty else { return nil }
                try await Task.sleep(for: pace.delay(after: chunk.count))
                return Data(chunk)
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self, pace: Pace(speed)) }
    }
}
