extension LibcurlQuirks {
    /// Before 8.1, libcurl sends what a full socket did not take of an upload over HTTP/2 once more, if small frames were waiting to be
    /// sent at that moment.
    ///
    /// It is given no more of a body than the socket has room for (`Transfer.roomForBody`).
    static let repeatedHTTP2Upload = LibcurlQuirks(bit: 3)
}
