internal import FoundationEssentials

/// A response's body that is written into a file.
///
/// It is written into the same folder, under a name that ends in `.partial`, and renamed when it is complete; a failure removes it.
/// The download continues without a reference to it. ``cancel()`` ends it; cancelling the fetch, or the task that waits in
/// ``whole()``, does so, too. A process that ends before ``whole()`` has returned may leave the partial file.
public final class Download<Failure: ByteStreamFailure>: Cancelable {
    /// Where the file will be.
    public let path: String
    /// The length that the response announced, in bytes (RFC 9110 section 8.6). `nil` if it announced none, or if the body is decoded
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

    /// Waits until the file is at its path. Cancelling the waiting task cancels the download; to let it continue, wait in a
    /// separate task.
    ///
    /// - Returns: The file's length in bytes.
    /// - Throws: The failure of the transfer; ``HTTPFetchError/localFile(_:_:)`` if the file could not be written.
    public func whole() async throws(Failure) -> Int64 {
        try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            self.cancel()
        }
        .get()
    }

    /// Ends the download and removes the partial file.
    public func cancel() { task.cancel() }
}

extension ByteStream {
    /// Writes the rest of the stream into a file, which appears at its path when it is complete.
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
