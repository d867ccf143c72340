internal import Foundation
internal import NetworkStack

/// A file that nobody else reads and that is gone with its object.
final class TemporaryFile: Sendable {
    let path: String
    private let handle: Lock<FileHandle>

    /// Makes an empty file in the folder for temporary files.
    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("network-stack-\(UUID().uuidString)")
        let path = url.path
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path])
        }
        self.path = path
        let file = try FileHandle(forWritingTo: url)
        handle = Lock(file)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ data: Data) throws {
        try handle.withLock { handle throws in try handle.write(contentsOf: data) }
    }

    /// Nothing more is written.
    func finish() throws {
        try handle.withLock { handle throws in try handle.close() }
    }
}
