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
    /// - Throws: ``RefusedOption``.
    func answerChallenges(with credentials: HTTP.Credentials, waiting waits: Bool) throws(RefusedOption) {
        // The handle is used once, and a second head is no content.
        showHeadsFirst(false)
        try set(CURLOPT_HTTPAUTH, waits ? shim_auth_digest : shim_auth_digest | shim_auth_only)
        try set(CURLOPT_USERNAME, credentials.user)
        try set(CURLOPT_PASSWORD, credentials.password)
        // libcurl counts its answers as redirects; a server that only ever has a newer challenge would go on for ever.
        try set(CURLOPT_MAXREDIRS, 4)
    }
}
