extension LibcurlQuirks {
    /// Before 8.4, libcurl does not go on to the next of a host's addresses where one cannot be connected to, but waits for its time to
    /// run out (curl #11920, https://github.com/curl/curl/issues/11920).
    ///
    /// A transfer between two addresses is called up after the turn (``Turn/betweenAddresses``).
    static let stuckConnect = LibcurlQuirks(bit: 8)
    static let stuckConnectVersions = versions(until: 0x080400)
}
