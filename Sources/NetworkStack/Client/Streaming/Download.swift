internal import FoundationEssentials

/// The content of a response on its way into a file.
///
/// It is written beside the file's place, under a name that ends in `.partial`, and moved there when it is whole; a failure
/// leaves nothing behind. It goes on without being held; ``cancel()``, or a cancel of the fetch or of who waits for it, ends it.
/// What is written is removed by a task of the download's own, so a process that ends before ``whole()`` has returned may leave
/// it behind, be it after a cancel or a shutdown of the stack.
public final class Download: Cancelable {
    /// Where the file will be.
    public let path: String
    /// How many bytes the response announced (RFC 9110 section 8.6), or `nil` if it did not, or if that is
    /// not what is written, as the content has a coding (`Content-Encoding`).
    public let expectedLength: Int64?

    private let written = Lock<Int64>(0)
    private let task: Task<Result<Int64, ByteStream.Failed>, Never>

    init(_ stream: ByteStream, to path: String, expectedLength: Int64?) {
        self.path = path
        self.expectedLength = expectedLength
        let written = written
        task = Task {
            await Result(of: { () throws(ByteStream.Failed) in
                try await Self.write(stream, to: path, noting: written)
            })
        }
    }

    /// How many bytes have been written so far.
    public var writtenLength: Int64 { written.withLock { $0 } }

    /// Waits until the file is in its place. Cancelling the waiting task cancels the download; one that is to go on without
    /// this task is waited for in a task of its own.
    ///
    /// - Returns: The file's length in bytes.
    /// - Throws: ``ByteStream/Failed`` if the content did not come whole, with a ``FileError`` if it could not be written.
    public func whole() async throws(ByteStream.Failed) -> Int64 {
        try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            self.cancel()
        }
        .get()
    }

    /// Ends the download; what was written is removed.
    public func cancel() { task.cancel() }

    static func write(
        _ stream: ByteStream,
        to path: String,
        noting written: Lock<Int64>
    ) async throws(ByteStream.Failed) -> Int64 {
        let file: FileWriter
        do { file = try FileWriter(path: path) } catch { throw ByteStream.Failed(underlying: error) }
        defer { file.discard() }
        for try await chunk in stream {
            do { try file.write(chunk) } catch { throw ByteStream.Failed(underlying: error) }
            written.withLock { $0 += Int64(chunk.count) }
        }
        do { return try file.commit() } catch { throw ByteStream.Failed(underlying: error) }
    }
}
