extension LibcurlQuirks {
    /// Before 8.1, libcurl takes a connection's input apart when an upload of no announced length ends, although a stream has still
    /// to take what is its own, and mixes the two up. And where one stream's buffer is full, it ends another that the server has closed
    /// without its trailers.
    ///
    /// Requests that either could happen to have their connection to themselves (``HTTPHop/needsOwnConnection(_:)``).
    static let mixedHTTP2Bodies = LibcurlQuirks(bit: 2)
}
