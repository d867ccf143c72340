public import FoundationEssentials

/// What a body source has to offer next.
public enum HTTPBodyChunk: Sendable {
    /// The next bytes; never empty.
    case bytes(Data)
    /// Nothing now. ``HTTPTransfer/resumeSending()`` is called when there is more.
    case pending
    /// The content is complete.
    case end
    /// The content cannot be completed.
    case failed(any Error)
}

/// The content of one transfer, read piece by piece by its transport.
public protocol HTTPBodySource: AnyObject, Sendable {
    /// The length in bytes, or `nil` if it is not known.
    var length: Int64? { get }

    /// The next bytes.
    ///
    /// - Parameter count: The most bytes to return; at least 1.
    /// - Returns: The bytes, or why there are none.
    func next(upTo count: Int) -> HTTPBodyChunk

    /// The fields that follow the content. Asked for once the content has ended.
    var trailers: HTTP.Headers? { get }

    /// Goes back to the first byte, for a connection that died before it answered.
    ///
    /// - Returns: Whether that is possible.
    func rewind() -> Bool

    /// Lets go of what the source holds. Called once, when the transfer has ended.
    func close()
}

extension HTTPBodySource {
    /// No fields.
    public var trailers: HTTP.Headers? { nil }
}
