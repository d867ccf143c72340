internal import FoundationEssentials

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A file, read while it is sent. Its length is fixed when the source is made; one that shrinks meanwhile fails.
///
/// It is open from then on, so that it may be moved or removed as soon as its fetch has begun. Of many that wait for their turn,
/// only some are: the others are opened again when they are read, and fail if another file is in their place.
package final class FileBodySource: HTTPBodySource {
    /// What came of reading.
    package enum Piece {
        /// So many bytes are there.
        case bytes(Int)
        /// Everything has been read.
        case end
        /// The file cannot be read as it was opened.
        case failed(any Error)
    }

    private struct State {
        /// The open file; less than 0 if there is none.
        var descriptor: Int32
        var offset: Int64 = 0
        var isClosed = false
    }

    private let path: String
    /// The file itself, whatever its name.
    private let identity: (device: dev_t, number: ino_t)
    private let state: Lock<State>
    /// The length in bytes when the source was made.
    let size: Int64
    package var length: Int64? { size }

    /// How many sources hold a file open.
    private static let openCount = Lock(0)
    /// Beyond so many, a file is opened when it is read: of the descriptors that a process may have, usually 1,024, this is an
    /// eighth, and connections need theirs.
    private static let mostOpen: Int = {
        var limit = rlimit()
        guard unsafe getrlimit(numericCast(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 32 }
        return Int(clamping: min(limit.rlim_cur / 8, 128))
    }()

    /// Opens a file.
    ///
    /// - Throws: A ``FileError`` if there is none that can be read from any place.
    package init(path: String) throws(FileError) {
        let (descriptor, status) = try Self.open(path)
        (self.path, identity, size) = (path, (status.st_dev, status.st_ino), Int64(status.st_size))
        let mayStayOpen = Self.openCount.withLock { count in
            guard count < Self.mostOpen else { return false }
            count += 1
            return true
        }
        if !mayStayOpen { _ = Descriptor.close(descriptor) }
        state = Lock(State(descriptor: mayStayOpen ? descriptor : -1))
    }

    /// Opens a file that can be read from any place.
    private static func open(_ path: String) throws(FileError) -> (Int32, stat) {
        // Not blocking, so that a pipe without a writer is refused below and does not hold the caller up here.
        let descriptor = path.namesAnother ? -1 : Descriptor.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let number = path.namesAnother ? EINVAL : errno
        guard descriptor >= 0 else { throw FileError(path: path, number: number) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let number = status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL
            _ = Descriptor.close(descriptor)
            throw FileError(path: path, number: number)
        }
        return (descriptor, status)
    }

    /// Opens the file that the source was made of once more.
    private func reopen() throws(FileError) -> Int32 {
        let (descriptor, status) = try Self.open(path)
        guard status.st_dev == identity.device, status.st_ino == identity.number else {
            _ = Descriptor.close(descriptor)
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

    /// Reads the next bytes to where they are wanted.
    ///
    /// - Parameters:
    ///   - limit: How many at most.
    ///   - place: Takes them.
    /// - Returns: How many came, or that there are no more.
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
                _ = Descriptor.close(state.descriptor)
                Self.openCount.withLock { $0 -= 1 }
            }
            (state.descriptor, state.isClosed) = (-1, true)
        }
    }
}
