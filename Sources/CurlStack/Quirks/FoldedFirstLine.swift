extension LibcurlQuirks {
    /// Before 8.1.1, a handle that is used again adds a head's folded first line to the last field of the head before, which is freed
    /// memory by then (curl #11101, https://github.com/curl/curl/issues/11101): any server could crash the process.
    ///
    /// libcurl shows the lines of a head before it looks at them itself (`CURLOPT_HEADER`), and such a head is refused
    /// (``HeadReader/mayFollow(_:)``).
    static let foldedFirstLine = LibcurlQuirks(bit: 5)
}
