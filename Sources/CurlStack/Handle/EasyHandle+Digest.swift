internal import CCurl
internal import NetworkStack

extension EasyHandle {
    /// Has libcurl answer Digest challenges (RFC 7616) of the server. The handle keeps the credentials, and what servers send
    /// about them, so it serves one transfer only.
    ///
    /// - Parameters:
    ///   - credentials: The credentials.
    ///   - waits: Whether content waits for a challenge. libcurl then sends the request without it first, as
    ///     it does if only one authentication scheme is allowed; `CURLAUTH_ONLY` counts as another.
    /// - Returns: The first code that is not `CURLE_OK`, if any option was refused.
    func answerChallenges(with credentials: HTTP.Credentials, waiting waits: Bool) -> CURLcode {
        // The handle is used once, and a second head is no content.
        showHeadsFirst(false)
        let codes = [
            set(CURLOPT_HTTPAUTH, waits ? shim_auth_digest : shim_auth_digest | shim_auth_only),
            set(CURLOPT_USERNAME, credentials.user),
            set(CURLOPT_PASSWORD, credentials.password),
            // libcurl counts its answers as redirects; a server that only ever has a newer challenge would go on for ever.
            set(CURLOPT_MAXREDIRS, 4),
        ]
        return codes.first { $0 != CURLE_OK } ?? CURLE_OK
    }
}
