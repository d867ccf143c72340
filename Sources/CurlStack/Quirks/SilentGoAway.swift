extension LibcurlQuirks {
    /// Before 8.7, only the verbose text has the last stream that a GOAWAY leaves processed (``DebugText``). Later versions end those streams
    /// as refused, and repeat nothing else.
    static let silentGoAway = LibcurlQuirks(bit: 13)
}
