internal import Foundation
internal import NetworkStack

/// A file that nobody else reads and that is gone with its object. Once it is finished it is a source.
final class TemporaryFile: HTTPBodySource {
    let path: String
    private let writer: FileWriter
    private let reader = Lock<FileHandle?>(nil)
    private let count = Lock<Int64?>(nil)

    var length: Int64? { count.withLock { $0 } }

    /// Makes an empty file in the folder for temporary files.
    init() throws(FileError) {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("network-stack-\(UUID().uuidString)").path
        writer = try FileWriter(path: path, mode: 0o600)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ data: Data) throws(FileError) { try writer.write(data) }

    /// Nothing more is written; now it can be read.
    func finish() throws(FileError) {
        let length = try writer.commit()
        count.withLock { $0 = length }
        reader.withLock { $0 = FileHandle(forReadingAtPath: path) }
    }

    func next(upTo count: Int) -> HTTPBodyChunk {
        do {
            let data = try reader.withLock { try $0?.read(upToCount: count) }
            guard let data else {
                return .failed(CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: path]))
            }
            return data.isEmpty ? .end : .bytes(data)
        } catch { return .failed(error) }
    }

    func rewind() -> Bool {
        reader.withLock { (try? $0?.seek(toOffset: 0)) != nil }
    }

    func close() { reader.withLock { $0 = nil } }
}
