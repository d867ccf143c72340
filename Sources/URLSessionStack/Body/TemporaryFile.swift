internal import Foundation
internal import NetworkStack

/// A private file that is deleted with its object. After ``finish()`` it is a body source.
final class TemporaryFile: HTTPBodySource {
    let path: String
    private let writer: FileWriter
    private let source = Lock<FileBodySource?>(nil)

    var length: Int64? { source.withLock { $0 }?.length }

    /// Makes an empty file in the folder for temporary files.
    init() throws(FileError) {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("network-stack-\(UUID().uuidString)").path
        writer = try FileWriter(path: path, isPrivate: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ data: Data) throws(FileError) { try writer.write(data) }

    /// Ends writing; from now on the file can be read.
    func finish() throws {
        _ = try writer.commit()
        let opened = try FileBodySource(path: path)
        source.withLock { $0 = opened }
    }

    func next(upTo count: Int) -> HTTPBodyChunk { source.withLock { $0 }?.next(upTo: count) ?? .end }

    func rewind() -> Bool { source.withLock { $0 }?.rewind() ?? false }

    func close() { source.withLock { $0 }?.close() }
}
