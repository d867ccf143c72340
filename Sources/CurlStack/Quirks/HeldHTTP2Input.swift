extension LibcurlQuirks {
    /// Before 8.1, libcurl stops taking a connection's input apart when a stream's buffer is full, and lets that stream take what is
    /// its own. What it has read for the streams after it stays where it is until the socket is readable once more, which may be
    /// never.
    ///
    /// A stream of the connection is made to read once more (``BufferedHTTP2Input``).
    static let heldHTTP2Input = LibcurlQuirks(bit: 1)
}
