internal import CCurl

/// A list of header lines in libcurl's form. libcurl does not copy it, so it lives as long as its transfer.
@safe
struct HeaderList: ~Copyable {
    private var list: UnsafeMutablePointer<curl_slist>?

    init() {}

    deinit { unsafe curl_slist_free_all(list) }

    /// Adds a line: `Name: value`, `Name;` for an empty value, `Name:` to leave out a line libcurl would add.
    ///
    /// - Returns: Whether there was memory for it.
    mutating func append(_ line: String) -> Bool {
        guard let grown = unsafe curl_slist_append(list, line) else { return false }
        unsafe list = grown
        return true
    }

    /// Runs `body` with the list.
    func withList<Result>(_ body: (UnsafeMutablePointer<curl_slist>?) -> Result) -> Result { unsafe body(list) }
}
