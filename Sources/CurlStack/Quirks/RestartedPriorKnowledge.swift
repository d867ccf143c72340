extension LibcurlQuirks {
    /// Before 8.0, libcurl begins HTTP/2 by prior knowledge anew on a connection that speaks it already, and fails.
    ///
    /// A transfer that joins such a connection does not ask for HTTP/2 (``TransferPlan``). If libcurl begins HTTP/2 anew on another connection,
    /// that one is of no use, and the transfer starts over (`Transfer.missesHTTP2`).
    static let restartedPriorKnowledge = LibcurlQuirks(bit: 0)
}
