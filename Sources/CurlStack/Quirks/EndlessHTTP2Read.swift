extension LibcurlQuirks {
    /// Before 8.7, libcurl reads a connection of HTTP/2 until it gets a part of a body or nothing is left. A server that sends empty frames
    /// faster than they are read would keep the loop within one call.
    ///
    /// ``FloodGuard`` ends such a connection in the clear; under TLS ``ReadBudget`` bounds what is read.
    static let endlessHTTP2Read = LibcurlQuirks(bit: 14)
}
