extension LibcurlQuirks {
    /// Before 8.7, the end of a kept connection of HTTP/2 may look like that of a stream that was refused: both may come without words, and
    /// libcurl sends the request again by itself. From 8.1 on that is so if the connection dies; before, if what the server sends makes
    /// no sense, or a response comes in one piece with its reset. Since 8.7 it is an error that nothing is repeated for.
    ///
    /// On a kept connection a request that is not idempotent is sent again only after GOAWAY (`Transfer.isRefused`).
    static let deathLikeRefusal = LibcurlQuirks(bit: 12)
}
