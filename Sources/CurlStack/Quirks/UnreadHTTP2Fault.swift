extension LibcurlQuirks {
    /// Since 8.1, libcurl notices a fault on a connection of HTTP/2 only when it reads once more. A server that sends nothing after the
    /// fault would let the transfers wait until a timeout.
    ///
    /// A connection on which nothing has come for a while is read once more (``BufferedHTTP2Input``).
    static let unreadHTTP2Fault = LibcurlQuirks(bit: 15)
    static let unreadHTTP2FaultVersions = versions(from: 0x080100)
}
