import Foundation
import Glibc
import NetworkStack

/// A directory that is removed with its contents when the object is released, or when the process exits.
package final class TemporaryDirectory: Sendable {
    let path: String

    /// The directories of this process that still exist. Swift runs no deinit for objects that are alive at exit.
    private static let living = Lock<Set<String>>([])
    private static let removal: Void = {
        atexit {
            for path in TemporaryDirectory.living.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
        }
    }()

    /// Makes a directory that only this user can enter.
    ///
    /// Throws `SystemCallError`.
    package init(_ purpose: String) throws {
        _ = Self.removal
        var template = Array(
            (FileManager.default.temporaryDirectory.path + "/networkstack-\(purpose)-XXXXXX").utf8CString
        )
        guard let made = mkdtemp(&template) else { throw SystemCallError("mkdtemp for \(purpose)") }
        let path = String(cString: made)
        self.path = path
        Self.living.withLock { _ = $0.insert(path) }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        Self.living.withLock { [path] in _ = $0.remove(path) }
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, with the directories above it; returns its path.
    @discardableResult
    func write(_ name: String, _ contents: Data) throws -> String {
        let url = URL(fileURLWithPath: file(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try contents.write(to: url)
        return url.path
    }

    @discardableResult
    func write(_ name: String, _ contents: String) throws -> String { try write(name, Data(contents.utf8)) }
}
