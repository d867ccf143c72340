extension LibcurlQuirks {
    /// From 8.1 to 8.15, a transfer that takes addresses of any age makes libcurl forget all that it knows.
    ///
    /// No transfer takes them then (``AddressAge``).
    static let forgottenAddresses = LibcurlQuirks(bit: 16)
}
