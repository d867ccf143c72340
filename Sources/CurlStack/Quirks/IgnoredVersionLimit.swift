extension LibcurlQuirks {
    /// In 8.11 and 8.12, libcurl chooses an HTTP/2 connection for a request that is limited to HTTP/1.1: `url_match_conn` of lib/url.c notes
    /// that it does not fit, and takes it.
    ///
    /// Such a request starts over on a fresh connection. For the answer to a challenge libcurl ignores that (`CURLOPT_FRESH_CONNECT`), so the
    /// HTTP/2 connection is closed then.
    static let ignoredVersionLimit = LibcurlQuirks(bit: 18)
}
