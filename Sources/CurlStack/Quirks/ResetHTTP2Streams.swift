extension LibcurlQuirks {
    /// Before 8.1, libcurl resets a stream that has ended if no length was announced for its body. nghttp2, and with it several servers,
    /// takes a thousand resets for an attack (CVE-2023-44487) and ends the connection.
    ///
    /// Such streams are counted, and after 800 the next transfers open another connection (``Connection/noteReset()``).
    static let resetHTTP2Streams = LibcurlQuirks(bit: 4)
}
