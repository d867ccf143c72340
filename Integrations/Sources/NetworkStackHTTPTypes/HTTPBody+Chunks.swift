internal import FoundationEssentials
public import NetworkStack

extension HTTP.Body {
    /// Chunks of bytes, which are read while they are sent, once. The sequence is read no faster than the server takes the bytes: up
    /// to 256 KiB ahead, plus a chunk. It is cancelled if the transfer ends early.
    ///
    /// - Parameters:
    ///   - chunks: Yields the bytes: `[UInt8]`, `ArraySlice<UInt8>`, `Data` or another sequence of bytes.
    ///   - length: The length in bytes, if known. The sequence must then yield exactly that many.
    ///   - trailers: The fields that follow the body.
    /// - Returns: A body that cannot be sent again, for a redirect or a retry.
    public static func chunks<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        trailers: Trailers? = nil
    ) -> HTTP.Body where Chunks.Element: Sequence<UInt8> & Sendable {
        var stream = Stream(chunks.map { Data($0) }, length: length)
        stream.trailers = trailers
        return .stream(stream)
    }

    /// Chunks of bytes, which are read while they are sent, as often as the body is sent.
    ///
    /// - Parameters:
    ///   - length: The length in bytes, if known. The sequences must then yield exactly that many.
    ///   - trailers: The fields that follow the body.
    ///   - replaying: Makes the sequence anew for each time the body is sent.
    /// - Returns: A body that can be sent again, for a redirect or a retry.
    public static func chunks<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil,
        trailers: Trailers? = nil,
        replaying: @escaping @Sendable () throws -> Chunks
    ) -> HTTP.Body where Chunks.Element: Sequence<UInt8> & Sendable {
        var stream = Stream(length: length) { try replaying().map { Data($0) } }
        stream.trailers = trailers
        return .stream(stream)
    }
}
