extension LibcurlQuirks {
    /// Before 8.2, libcurl reports the end of a connection of HTTP/2 that it gives up itself as the end of a body without a length.
    ///
    /// Whether the connection goes on decides whether such a body is whole (`Transfer.isCutOff`, `Pool.probeConnection`).
    static let ambiguousHTTP2End = LibcurlQuirks(bit: 6)
}
