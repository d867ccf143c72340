internal import FoundationEssentials

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A file, read while it is sent. Its length is fixed when it is opened; one that shrinks meanwhile fails.
final class FileBodySource: HTTPBodySource {
    private struct State {
        var descriptor: Int32
        var offset: Int64 = 0
    }

    private let state: Lock<State>
    /// The length in bytes when the file was opened.
    let size: Int64

    var length: Int64? { size }

    init(path: String) throws(HTTP.Refusal) {
        // Not blocking, so that a pipe without a writer is refused below and does not hold the caller up here.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .requestBody(FileError(path: path, number: errno)) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let number = status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL
            _ = Self.close(descriptor)
            throw .requestBody(FileError(path: path, number: number))
        }
        size = Int64(status.st_size)
        state = Lock(State(descriptor: descriptor))
    }

    deinit { close() }

    func next(upTo count: Int) -> HTTPBodyChunk {
        state.withLock { state in
            guard state.offset < size else { return .end }
            guard state.descriptor >= 0 else { return .failed(FileError(path: "the file", number: EBADF)) }
            var data = Data(count: Int(min(Int64(count), size - state.offset)))
            let (descriptor, offset) = (state.descriptor, state.offset)
            let read = unsafe data.withUnsafeMutableBytes { buffer in
                unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            }
            guard read > 0 else {
                return .failed(
                    read < 0
                        ? FileError(path: "the file", number: errno) : BodyLengthError(declared: size, actual: offset)
                )
            }
            state.offset += Int64(read)
            if read < data.count { data.removeLast(data.count - read) }
            return .bytes(data)
        }
    }

    func rewind() -> Bool {
        state.withLock { $0.offset = 0 }
        return true
    }

    func close() {
        state.withLock { state in
            if state.descriptor >= 0 { _ = Self.close(state.descriptor) }
            state.descriptor = -1
        }
    }

    fileprivate static func close(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.close(descriptor)
        #elseif canImport(Musl)
            Musl.close(descriptor)
        #else
            Darwin.close(descriptor)
        #endif
    }
}

/// A file that appears whole or not at all: it is written beside its place and moved there at the end.
///
/// One thread at a time writes it.
final class FileWriter: Sendable {
    private struct State {
        var descriptor: Int32
        var count: Int64 = 0
    }

    private let path: String
    private let partialPath: String
    private let state: Lock<State>

    /// Creates the partial file, readable as the process's mask says.
    init(path: String) throws(FileError) {
        self.path = path
        partialPath = "\(path).\(UInt32.random(in: .min ... .max)).partial"
        let descriptor = unsafe open(partialPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileError(path: path, number: errno) }
        state = Lock(State(descriptor: descriptor))
    }

    deinit { discard() }

    func write(_ chunk: Data) throws(FileError) {
        let path = path
        try state.withLock { state throws(FileError) in
            let descriptor = state.descriptor
            var written = 0
            while written < chunk.count {
                let count = unsafe chunk.withUnsafeBytes { buffer in
                    unsafe Self.write(descriptor, UnsafeRawBufferPointer(rebasing: buffer[written...]))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw FileError(path: path, number: errno) }
                written += count
            }
            state.count += Int64(chunk.count)
        }
    }

    /// Puts the file in its place.
    ///
    /// - Returns: Its length in bytes.
    func commit() throws(FileError) -> Int64 {
        let (path, partialPath) = (path, partialPath)
        return try state.withLock { state throws(FileError) in
            guard state.descriptor >= 0 else { throw FileError(path: path, number: EBADF) }
            let closed = FileBodySource.close(state.descriptor)
            state.descriptor = -1
            guard closed == 0, unsafe rename(partialPath, path) == 0 else {
                let number = errno
                _ = unsafe unlink(partialPath)
                throw FileError(path: path, number: number)
            }
            return state.count
        }
    }

    /// Leaves nothing behind, unless the file is in its place.
    func discard() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            _ = FileBodySource.close(state.descriptor)
            state.descriptor = -1
            _ = unsafe unlink(partialPath)
        }
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            unsafe Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}

/// Something whose bytes are read into memory that the reader provides, such as Foundation's `InputStream`: a backend
/// declares the conformance, and the one piece of unsafe code there is to it stays here.
package protocol ByteReading {
    /// Reads into a buffer.
    ///
    /// - Returns: How many bytes were read; 0 at the end, less on failure.
    func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int
}

extension ByteReading {
    /// Reads some bytes.
    ///
    /// - Parameter count: The most bytes to read; at least 1.
    /// - Returns: The bytes, empty at the end; `nil` on failure.
    package func readChunk(upTo count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe read($0, maxLength: count) } ?? 0
        }
        return length < 0 ? nil : Array(bytes.prefix(length))
    }
}

/// A file could not be read or written.
public struct FileError: Error, Hashable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// The system's error number.
    public let number: Int32

    /// The file, and the system's words for the error.
    public var description: String { unsafe "\(path): \(String(cString: strerror(number)))" }
}

/// Content was not as long as was said.
public struct BodyLengthError: Error, Hashable, CustomStringConvertible {
    /// The length that was said, in bytes.
    public let declared: Int64
    /// The length there was, in bytes; more than ``declared`` means "at least".
    public let actual: Int64

    /// Both lengths, in a sentence.
    public var description: String { "The content has \(actual) bytes where \(declared) were declared." }
}
