extension LibcurlQuirks {
    /// Before 8.4, libcurl drops a timer together with another of the same transfer that fires in the same millisecond, a little too early.
    /// The wait for 100 Continue would never end then.
    ///
    /// libcurl is called for a transfer that waits for it when its time is over (``Agenda/Task/sendUnasked``).
    static let lostTimer = LibcurlQuirks(bit: 9)
}
