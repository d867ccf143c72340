internal import Foundation
internal import NetworkStack

/// Collects a stream's bytes until it ends: in memory up to ``memoryLimit``, then in a temporary file.
///
/// URLSession on Linux treats a stream without available bytes as ended, and would report the truncated request as a success. So
/// a stream is read to its end before its first byte is sent.
final class Spool: Sendable {
    /// How many bytes are kept in memory.
    static let memoryLimit = 1 << 20
    /// How many bytes are asked for at once.
    static let pieceSize = 256 * 1024

    private struct State {
        var memory = Data()
        var file: TemporaryFile?
        var length: Int64 = 0
    }

    private let state = Lock(State())

    /// Adds bytes.
    ///
    /// - Throws: The file system's error if there is no room.
    func append(_ data: Data) throws {
        try state.withLock { state throws in
            state.length += Int64(data.count)
            if let file = state.file { return try file.write(data) }
            state.memory.append(data)
            guard state.memory.count > Self.memoryLimit else { return }
            let file = try TemporaryFile()
            try file.write(state.memory)
            state.file = file
            state.memory = Data()
        }
    }

    /// The whole body.
    func finish() throws -> SentContent {
        try state.withLock { state throws in
            guard let file = state.file else { return state.memory.isEmpty ? .none : .bytes(state.memory) }
            try file.finish()
            return .file(file, path: file.path, length: state.length)
        }
    }
}
