extension LibcurlQuirks {
    /// From 8.13 to 8.15, others may join a connection of HTTP/2 in the clear only when it has answered, and a transfer that is set to wait for it
    /// (`CURLOPT_PIPEWAIT`) waits without a clock (curl #18177, https://github.com/curl/curl/issues/18177). `url_match_conn` of lib/url.c asks for
    /// the version of an earlier response, which 8.12 asks for only where HTTP/1.1 may be upgraded.
    ///
    /// They join once it has answered (``HTTPHop/sharesOnceAnswered(_:)``). Until then each has a connection, up to the limit per host.
    static let lateHTTP2Sharing = LibcurlQuirks(bit: 17)
}
