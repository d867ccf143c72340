internal import CCurl

/// Lines in libcurl's form, such as those of a header: `Name: value`, `Name;` for an empty value, `Name:` to leave out a line that
/// libcurl would add. One list serves any number of handles, and lives as long as any keeps it: libcurl does not copy it.
@safe
final class TextList {
    private var list: UnsafeMutablePointer<curl_slist>?

    /// Makes a list, or `nil` if there is no memory for it.
    init?(_ lines: [String]) {
        // libcurl looks for the end of the list it is given, from there on: the end itself, or thousands of lines take seconds.
        var last: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let grown = unsafe curl_slist_append(last, line) else { return nil }
            unsafe last = last.map { unsafe $0.pointee.next } ?? grown
            if unsafe list == nil { unsafe list = grown }
        }
    }

    deinit { unsafe curl_slist_free_all(list) }

    /// Runs `body` with the list.
    func withList<Result>(_ body: (UnsafeMutablePointer<curl_slist>?) -> Result) -> Result { unsafe body(list) }
}
