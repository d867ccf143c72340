package import FoundationEssentials

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Writes a file so that it appears at its path when it is complete: it is written next to that path and then moved.
///
/// Only one thread at a time may write.
package final class FileWriter: Sendable {
    private struct State {
        var descriptor: Int32
        var count: Int64 = 0
    }

    private let path: String
    private let partialPath: String
    private let state: Lock<State>

    /// Creates the partial file. Fails at once if the path is that of a folder, a pipe or a device.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - isPrivate: Whether only the owner may read and write it. Otherwise a new file has the permissions that the process gives
    ///     to files, and an existing file keeps its own.
    /// - Throws: ``FileError``.
    package init(path: String, isPrivate: Bool = false) throws(FileError) {
        (self.path, partialPath) = (path, Self.partialPath(for: path))
        var status = stat()
        let isThere = unsafe !path.containsNUL && stat(path, &status) == 0
        let number = isThere || path.containsNUL ? status.st_mode.errorUnlessFile : errno
        guard number == 0 || number == ENOENT && !path.isEmpty else { throw FileError(path: path, number: number) }
        let kept = status.st_mode & (isPrivate ? 0o600 : 0o777)
        let mode = isThere ? kept : isPrivate ? 0o600 : 0o666
        let descriptor = unsafe open(partialPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileError(path: path, number: errno) }
        // Adds what the process's mask has removed, where the file system has permissions.
        if isThere { _ = fchmod(descriptor, kept) }
        state = Lock(State(descriptor: descriptor))
    }

    deinit { discard() }

    /// Adds bytes.
    ///
    /// - Throws: ``FileError``.
    package func write(_ chunk: Data) throws(FileError) {
        let path = path
        try state.withLock { state throws(FileError) in
            let descriptor = state.descriptor
            var written = 0
            while written < chunk.count {
                let count = unsafe chunk.withUnsafeBytes { buffer in
                    unsafe systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[written...]))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw FileError(path: path, number: errno) }
                written += count
            }
            state.count += Int64(chunk.count)
        }
    }

    /// Moves the file to its path.
    ///
    /// - Parameter durably: Whether the bytes are written to the disk first, so that a system crash leaves the file complete.
    /// - Returns: Its length in bytes.
    /// - Throws: ``FileError``.
    package func commit(durably: Bool = false) throws(FileError) -> Int64 {
        let (path, partialPath) = (path, partialPath)
        return try state.withLock { state throws(FileError) in
            guard state.descriptor >= 0 else { throw FileError(path: path, number: EBADF) }
            let isWritten = !durably || fsync(state.descriptor) == 0
            let number = errno
            let isClosed = systemClose(state.descriptor) == 0
            if !isWritten { errno = number }
            state.descriptor = -1
            guard isWritten, isClosed, unsafe rename(partialPath, path) == 0 else {
                let number = errno
                _ = unsafe unlink(partialPath)
                throw FileError(path: path, number: number)
            }
            return state.count
        }
    }

    /// Removes the partial file, unless it was moved.
    package func discard() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            _ = systemClose(state.descriptor)
            state.descriptor = -1
            _ = unsafe unlink(partialPath)
        }
    }

    /// The path of the partial file: in the same folder, with a name of at most 255 bytes.
    static func partialPath(for path: String) -> String {
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
        var name = String(path[start...])
        while name.utf8.count > 230 { name.removeLast() }
        return "\(path[..<start])\(name).\(UInt32.random(in: .min ... .max)).partial"
    }
}

extension String {
    /// Whether the path contains a NUL, where the system would cut it off.
    var containsNUL: Bool { utf8.contains(0) }
}

extension mode_t {
    /// The error number for using this as a file: 0 for a regular file, EISDIR for a folder, otherwise EINVAL.
    fileprivate var errorUnlessFile: Int32 {
        switch self & S_IFMT {
        case S_IFREG: 0
        case S_IFDIR: EISDIR
        default: EINVAL
        }
    }
}

/// A small file that only its owner may read, such as one with credentials.
enum PrivateFile {
    /// The file's bytes, or `nil` if there is no file.
    ///
    /// - Throws: ``FileError``; `EACCES`, too, if others may read or write the file, because it cannot be trusted then.
    static func read(_ path: String) throws(FileError) -> Data? {
        try check(path)
        // Follows no link, and does not wait for a pipe's writer.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw FileError(path: path, number: errno)
        }
        defer { _ = systemClose(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw FileError(path: path, number: errno) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else { throw FileError(path: path, number: EINVAL) }
        guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else {
            throw FileError(path: path, number: EACCES)
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let read = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count, off_t(count))
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { throw FileError(path: path, number: read < 0 ? errno : EIO) }
            count += read
        }
        return Data(bytes)
    }

    /// Replaces the file atomically: readers get the old bytes or the new ones, even after a crash.
    ///
    /// - Throws: ``FileError``.
    static func write(_ data: Data, to path: String) throws(FileError) {
        let file = try FileWriter(path: path, isPrivate: true)
        try file.write(data)
        _ = try file.commit(durably: true)
    }

    /// Removes the file, if there is one.
    ///
    /// - Throws: ``FileError``.
    static func remove(_ path: String) throws(FileError) {
        try check(path)
        if unsafe unlink(path) != 0, errno != ENOENT { throw FileError(path: path, number: errno) }
    }

    private static func check(_ path: String) throws(FileError) {
        if path.containsNUL { throw FileError(path: path, number: EINVAL) }
    }
}

/// A file could not be read or written.
public struct FileError: DescribedError, Hashable {
    /// The file.
    public let path: String
    /// The system's error number.
    public let number: Int32

    /// Makes the error, for other stores and for tests.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - number: The system's error number.
    public init(path: String, number: Int32) { (self.path, self.number) = (path, number) }

    /// Converts an error of Foundation.
    init(path: String, cause: any Error) {
        let cause = (cause as? CocoaError)?.underlying as? POSIXError
        self.init(path: path, number: (cause?.code ?? .EIO).rawValue)
    }

    /// The file, and the system's text for the error.
    public var description: String { unsafe "\(path): \(String(cString: strerror(number)))" }
}

// The system's calls, under names that no method hides.

func systemOpen(_ path: String, _ flags: Int32) -> Int32 { unsafe open(path, flags) }

func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
