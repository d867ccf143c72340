internal import CCurl

/// A transfer under way, which libcurl is made to go on with.
extension EasyHandle {
    /// Lets a paused transfer go on in both directions. Its callbacks may run before this returns.
    ///
    /// - Returns: What the transfer failed with if it does not go on, which libcurl does not report again.
    func resume() -> CURLcode { unsafe curl_easy_pause(pointer, CURLPAUSE_CONT) }

    /// Has a transfer's connection send what it has buffered: a change of pause does, and this one is undone at once.
    func sendWhatIsBuffered() {
        unsafe curl_easy_pause(pointer, CURLPAUSE_SEND)
        unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
    }

    /// Has libcurl look after a transfer that is not paused: what it has forgotten it holds, or an address to connect to.
    func nudge() {
        unsafe curl_easy_pause(pointer, CURLPAUSE_RECV)
        unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
    }
}
