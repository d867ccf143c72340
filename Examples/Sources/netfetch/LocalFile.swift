import Dispatch
import Foundation

/// A local file could not be read or written.
struct LocalFileError: Error, CustomStringConvertible {
    let description: String
    let exitCode: Int32

    /// What the system reports of a path, now.
    init(_ path: String, exitCode: Int32) {
        description = "\(path): \(String(cString: strerror(errno)))"
        self.exitCode = exitCode
    }

    /// What another part reports.
    init(_ description: String, code: Int32) {
        self.description = description
        exitCode = code
    }
}

/// Reads and writes whole buffers.
enum LocalFile {
    /// All of a file; `-` is standard input.
    static func read(_ path: String) throws(LocalFileError) -> Data {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LocalFileError(path, exitCode: 26) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var content = Data()
        while true {
            guard let chunk = readSome(descriptor) else { throw LocalFileError(path, exitCode: 26) }
            if chunk.isEmpty { return content }
            content.append(chunk)
        }
    }

    /// Refuses a file that will not open: before anything is sent.
    static func requireReadable(_ path: String) throws(LocalFileError) {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw LocalFileError("\(path): Is a directory", code: 26)
        }
        guard access(path, R_OK) == 0 else { throw LocalFileError(path, exitCode: 26) }
    }

    /// Whether a file can be read and has something in PEM.
    static func holdsPEM(_ path: String?) -> Bool {
        guard let path, let text = try? read(path) else { return false }
        return text.range(of: Data("-----BEGIN ".utf8)) != nil
    }

    /// The length of a file, or `nil` if there is none.
    static func length(_ path: String) -> Int64? {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int64(facts.st_size) : nil
    }

    /// Some bytes, as many as there are; empty at the end, `nil` if reading fails.
    static func readSome(_ descriptor: Int32) -> Data? {
        var buffer = Data(count: 64 * 1024)
        while true {
            let count = buffer.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            return count < 0 ? nil : buffer.prefix(count)
        }
    }

    /// Some bytes of standard input; empty at the end.
    static func readStandardInput() throws(LocalFileError) -> Data {
        guard let chunk = readSome(STDIN_FILENO) else { throw LocalFileError("standard input", exitCode: 26) }
        return chunk
    }

    /// Writes all of it. Returns whether that was possible.
    static func write(_ data: Data, to descriptor: Int32) -> Bool {
        data.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = Foundation.write(descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }
}

/// Standard input, as a body to send.
struct StandardInput: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        func next() async throws -> Data? {
            let chunk = try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    // Its `errno` is this thread's.
                    continuation.resume(with: Result { try LocalFile.readStandardInput() })
                }
            }
            return chunk.isEmpty ? nil : chunk
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
}
