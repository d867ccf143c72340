extension LibcurlQuirks {
    /// From 8.4 to 8.5, libcurl does not serve a transfer that is paused in one direction, if both are due: over HTTP/2 it may
    /// read nothing of a response while the request waits for its body.
    ///
    /// The transfer is resumed whenever its connection was read, and pauses again (``LoopContext/lookPastPause(on:)``).
    static let halfPausedHTTP2 = LibcurlQuirks(bit: 10)
}
