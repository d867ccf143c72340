import Foundation

/// Where a body goes: a file that is made when the first of it comes, or standard output.
struct BodyFile {
    private let path: String?
    private let appends: Bool
    private var descriptor: Int32?

    /// A file, or standard output for `nil` and `-`.
    init(_ path: String?, appends: Bool = false) {
        self.path = path == "-" ? nil : path
        self.appends = appends
        if self.path == nil { descriptor = STDOUT_FILENO }
    }

    /// Makes the file, if it was not made yet.
    mutating func open() throws(LocalFileError) -> Int32 {
        if let descriptor { return descriptor }
        guard let path else { return STDOUT_FILENO }
        let mode = O_WRONLY | O_CREAT | O_CLOEXEC | (appends ? O_APPEND : O_TRUNC)
        let opened = Foundation.open(path, mode, 0o666)
        guard opened >= 0 else { throw LocalFileError(path, exitCode: 23) }
        descriptor = opened
        return opened
    }

    /// Writes bytes.
    mutating func write(_ data: Data) throws(LocalFileError) {
        guard LocalFile.write(data, to: try open()) else {
            throw LocalFileError(path ?? "standard output", exitCode: 23)
        }
    }

    /// Closes the file.
    mutating func close() {
        if path != nil, let descriptor { Foundation.close(descriptor) }
        if path != nil { descriptor = nil }
    }
}
