extension LibcurlQuirks {
    /// 8.5 has every connection watched, whatever its transfer wants (curl #12632, https://github.com/curl/curl/issues/12632), and keeps
    /// 64 MiB of what comes for a transfer that is paused.
    ///
    /// The socket is not read meanwhile (``Poller/holdBack(_:_:for:)``).
    static let pausedSocketRead = LibcurlQuirks(bit: 11)
}
