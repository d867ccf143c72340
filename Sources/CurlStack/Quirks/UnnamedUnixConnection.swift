extension LibcurlQuirks {
    /// Before 8.2, only the verbose text names the connection over a Unix socket that libcurl has chosen (``DebugText``). The stack needs
    /// the name to check the connection for unrequested bytes, which newer versions do themselves.
    static let unnamedUnixConnection = LibcurlQuirks(bit: 7)
}
