internal import CCurl

/// Lines in libcurl's form that handles keep, one list for any number of them. libcurl does not copy it.
@safe
final class TextList {
    private let list: HeaderList

    /// Makes a list, or `nil` if there is no memory for it.
    init?(_ lines: [String]) {
        var list = HeaderList()
        for line in lines where !list.append(line) { return nil }
        self.list = list
    }

    /// Runs `body` with the list.
    func withList<Result>(_ body: (UnsafeMutablePointer<curl_slist>?) -> Result) -> Result {
        unsafe list.withList(body)
    }
}
