public import FoundationEssentials

/// The result of reading a body source.
public enum HTTPBodyChunk: Sendable {
    /// The next bytes; never empty.
    case bytes(Data)
    /// No bytes yet. ``HTTPTransfer/resumeSending()`` is called when there are more.
    case pending
    /// The body is complete.
    case end
    /// The body cannot be completed.
    case failed(any Error)
}

/// The body of one transfer, which its transport reads in chunks, one call at a time, on any thread. Reading a file may block.
public protocol HTTPBodySource: AnyObject, Sendable {
    /// The length in bytes, or `nil` if it is not known.
    var length: Int64? { get }

    /// Reads the next bytes.
    ///
    /// - Parameter count: The most bytes to return; at least 1.
    /// - Returns: The bytes, or why there are none.
    func next(upTo count: Int) -> HTTPBodyChunk

    /// The fields that follow the body. Read after the body has ended.
    var trailers: HTTP.Headers? { get }

    /// Returns to the first byte, for a connection that died before the server answered.
    ///
    /// A transport may send a request again if its method is idempotent, or if nothing of it was sent (RFC 9110 section 9.2.2).
    ///
    /// - Returns: Whether that is possible.
    func rewind() -> Bool

    /// Releases the source's resources. The engine calls it once, when the transfer has ended; a transport does not.
    func close()
}

extension HTTPBodySource {
    /// No fields.
    public var trailers: HTTP.Headers? { nil }
}
