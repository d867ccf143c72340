extension LibcurlQuirks {
    /// Before 8.2, only the verbose text names the connection over a Unix socket that libcurl has chosen (``DebugText``). Newer versions
    /// do by themselves what connections are told apart for.
    static let unnamedUnixConnection = LibcurlQuirks(bit: 7)
    static let unnamedUnixConnectionVersions = versions(until: 0x080200)
}
