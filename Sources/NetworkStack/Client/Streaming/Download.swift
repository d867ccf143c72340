internal import FoundationEssentials

/// The body of a response on its way into a file.
///
/// It is written beside the file's place, under a name that ends in `.partial`, and moved there when it is whole; a failure removes
/// it. The download continues without a reference to it; ``cancel()`` ends it, as does cancelling the fetch or the task that waits
/// in ``whole()``. A process that ends before ``whole()`` has returned may leave the partial file behind.
public final class Download<Failure: ByteStreamFailure>: Cancelable {
    /// Where the file will be.
    public let path: String
    /// How many bytes the response announced (RFC 9110 section 8.6), or `nil` if it did not, or if the body is decoded on its way
    /// (`Content-Encoding`).
    public let expectedLength: Int64?

    private let written = Lock<Int64>(0)
    private let task: Task<Result<Int64, Failure>, Never>

    init(
        _ stream: ByteStream<Failure>,
        to path: String,
        expectedLength: Int64?,
        localFile: @escaping @Sendable (FileError) -> Failure
    ) {
        self.path = path
        self.expectedLength = expectedLength
        let written = written
        task = Task {
            await Result(of: { () throws(Failure) in
                try await stream.write(to: path, localFile: localFile) { count in written.withLock { $0 = count } }
            })
        }
    }

    /// How many bytes have been written so far.
    public var writtenLength: Int64 { written.withLock { $0 } }

    /// Waits until the file is in its place. Cancelling the waiting task cancels the download; to let it continue, wait in a task
    /// of its own.
    ///
    /// - Returns: The file's length in bytes.
    /// - Throws: Why the body did not arrive whole; ``HTTPFetchError/localFile(_:_:)`` if it could not be written.
    public func whole() async throws(Failure) -> Int64 {
        try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            self.cancel()
        }
        .get()
    }

    /// Ends the download; what was written is removed.
    public func cancel() { task.cancel() }
}

extension ByteStream {
    /// Writes what is still to come into a file, which is in its place once it is whole.
    ///
    /// - Parameters:
    ///   - path: Where the file is to be.
    ///   - localFile: Makes the failure of a file that cannot be written.
    ///   - progress: Called after each chunk with the bytes written so far.
    /// - Returns: The file's length in bytes.
    /// - Throws: The stream's failure, or that of the file.
    func write(
        to path: String,
        localFile: (FileError) -> Failure,
        progress: (Int64) -> Void
    ) async throws(Failure) -> Int64 {
        let file: FileWriter
        do { file = try FileWriter(path: path) } catch { throw localFile(error) }
        defer { file.discard() }
        var count: Int64 = 0
        for try await chunk in self {
            do { try file.write(chunk) } catch { throw localFile(error) }
            count += Int64(chunk.count)
            progress(count)
        }
        do { return try file.commit() } catch { throw localFile(error) }
    }
}
