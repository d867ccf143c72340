/// The error of a ``ByteStream``: a stack's `FetchError`.
public protocol ByteStreamFailure: CancellableFetchError {
    /// The body is longer than the reader collects, in bytes.
    static func longerThan(limit: Int64) -> Self
    /// Another task reads the stream; a stream has one reader.
    static var concurrentRead: Self { get }
}
