internal import FoundationEssentials

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A file that is read while it is sent. Its length is fixed when the source is made; if the file shrinks, reading fails.
///
/// The file is open from then on, so it may be moved or removed once its fetch has started. If many sources wait, only some keep
/// their file open. The others reopen it when they are read, and fail if another file is in its place.
package final class FileBodySource: HTTPBodySource {
    /// The result of a read.
    package enum Piece {
        /// This many bytes were read.
        case bytes(Int)
        /// The end was reached.
        case end
        /// The file changed or cannot be read.
        case failed(any Error)
    }

    private struct State {
        /// The open file, or a negative number.
        var descriptor: Int32
        var offset: Int64 = 0
        var isClosed = false
    }

    private let path: String
    /// The file's identity, regardless of its name.
    private let identity: (device: dev_t, number: ino_t)
    private let state: Lock<State>
    /// The length in bytes when the source was made.
    let size: Int64
    package var length: Int64? { size }

    /// How many sources keep a file open.
    private static let openCount = Lock(0)
    /// Above this number, a file is opened when it is read. It is an eighth of the descriptors that the process may have (usually
    /// 1,024), because connections need descriptors, too.
    private static let mostOpen: Int = {
        var limit = rlimit()
        guard unsafe getrlimit(numericCast(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 32 }
        return Int(clamping: min(limit.rlim_cur / 8, 128))
    }()

    /// Opens a file.
    ///
    /// - Throws: A ``FileError`` if there is no seekable, readable file.
    package init(path: String) throws(FileError) {
        let (descriptor, status) = try Self.open(path)
        (self.path, identity, size) = (path, (status.st_dev, status.st_ino), Int64(status.st_size))
        let mayStayOpen = Self.openCount.withLock { count in
            guard count < Self.mostOpen else { return false }
            count += 1
            return true
        }
        if !mayStayOpen { _ = systemClose(descriptor) }
        state = Lock(State(descriptor: mayStayOpen ? descriptor : -1))
    }

    /// Opens a seekable file.
    private static func open(_ path: String) throws(FileError) -> (Int32, stat) {
        // Non-blocking, so that a pipe without a writer does not block the caller; it is refused below.
        let descriptor = path.containsNUL ? -1 : systemOpen(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let number = path.containsNUL ? EINVAL : errno
        guard descriptor >= 0 else { throw FileError(path: path, number: number) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let number = status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL
            _ = systemClose(descriptor)
            throw FileError(path: path, number: number)
        }
        return (descriptor, status)
    }

    /// Opens the source's file again.
    private func reopen() throws(FileError) -> Int32 {
        let (descriptor, status) = try Self.open(path)
        guard status.st_dev == identity.device, status.st_ino == identity.number else {
            _ = systemClose(descriptor)
            throw FileError(path: path, number: ESTALE)
        }
        Self.openCount.withLock { $0 += 1 }
        return descriptor
    }

    deinit { close() }

    package func next(upTo count: Int) -> HTTPBodyChunk {
        var data = Data(count: Int(min(Int64(count), state.withLock { size - $0.offset })))
        var place = data.mutableBytes
        switch next(upTo: count, into: &place) {
        case .bytes(let count): return .bytes(data.prefix(count))
        case .end: return .end
        case .failed(let error): return .failed(error)
        }
    }

    /// Reads the next bytes.
    ///
    /// - Parameters:
    ///   - limit: The most bytes to read.
    ///   - place: The destination.
    /// - Returns: How many bytes were read, the end, or a failure.
    package func next(upTo limit: Int, into place: inout MutableRawSpan) -> Piece {
        state.withLock { state in
            guard state.offset < size else { return .end }
            if state.descriptor < 0, !state.isClosed {
                do { state.descriptor = try reopen() } catch { return .failed(error) }
            }
            let count = Int(min(Int64(min(limit, place.byteCount)), size - state.offset))
            var read = -1
            repeat {
                read = unsafe place.withUnsafeMutableBytes { buffer in
                    unsafe pread(state.descriptor, buffer.baseAddress, count, off_t(state.offset))
                }
            } while read < 0 && errno == EINTR
            guard read > 0 else {
                return .failed(
                    read < 0
                        ? FileError(path: path, number: errno)
                        : BodyLengthError(declared: size, actual: state.offset)
                )
            }
            state.offset += Int64(read)
            return .bytes(read)
        }
    }

    package func rewind() -> Bool {
        state.withLock { $0.offset = 0 }
        return true
    }

    package func close() {
        state.withLock { state in
            if state.descriptor >= 0 {
                _ = systemClose(state.descriptor)
                Self.openCount.withLock { $0 -= 1 }
            }
            (state.descriptor, state.isClosed) = (-1, true)
        }
    }
}
