extension LibcurlQuirks {
    /// Since 8.1, libcurl notices a fault that follows a frame of a connection of HTTP/2 only when it reads once more, which it is made to
    /// do (``Turn/act(on:_:)``). Before, ``BufferedHTTP2Input`` does that, too.
    static let unreadHTTP2Fault = LibcurlQuirks(bit: 15)
    static let unreadHTTP2FaultVersions = versions(from: 0x080100)
}
