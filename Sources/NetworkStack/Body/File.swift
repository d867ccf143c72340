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

    private static func close(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.close(descriptor)
        #elseif canImport(Musl)
            Musl.close(descriptor)
        #else
            Darwin.close(descriptor)
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

/// A file could not be read.
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
