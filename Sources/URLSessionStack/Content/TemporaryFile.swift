internal import Foundation
internal import NetworkStack

/// A file that nobody else reads and that is gone with its object.
final class TemporaryFile: Sendable {
    let path: String
    private let writer: FileWriter

    /// Makes an empty file in the folder for temporary files.
    init() throws(FileError) {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("network-stack-\(UUID().uuidString)").path
        writer = try FileWriter(path: path, mode: 0o600)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ data: Data) throws(FileError) { try writer.write(data) }

    /// Nothing more is written; now it can be read.
    func finish() throws(FileError) { _ = try writer.commit() }
}
