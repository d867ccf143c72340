internal import CCurl

/// A URL in libcurl's form, taken apart once. A handle with a text takes it apart for each of its transfers, and
/// puts it together again, which is a seventh of what libcurl does for a small request.
@safe
final class URLHandle {
    private let pointer: OpaquePointer

    /// Takes a URL apart, or answers `nil` if libcurl cannot. Its path stays as it is: what may be removed from it was.
    init?(_ text: String) {
        guard let pointer = unsafe curl_url() else { return nil }
        unsafe self.pointer = pointer
        guard unsafe curl_url_set(pointer, CURLUPART_URL, text, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK else {
            return nil
        }
    }

    deinit { unsafe curl_url_cleanup(pointer) }

    /// Has an easy handle ask for the URL, which has to stay for as long.
    func ask(_ easy: UnsafeMutableRawPointer) -> CURLcode {
        unsafe shim_easy_set_pointer(easy, CURLOPT_CURLU, UnsafeMutableRawPointer(pointer))
    }
}
