extension LibcurlQuirks {
    /// Before 8.4, libcurl does not go on to the next of a host's addresses where one cannot be connected to, but waits for its time to
    /// run out (curl #11920, https://github.com/curl/curl/issues/11920).
    ///
    /// libcurl is called for a transfer between two addresses after the turn (``Agenda/Task/connect(socket:)``).
    static let stuckConnect = LibcurlQuirks(bit: 8)
}
