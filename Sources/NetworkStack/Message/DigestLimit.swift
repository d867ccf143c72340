extension HTTP {
    /// Why a Digest challenge (RFC 7616) cannot be answered correctly, although there are credentials for its server.
    ///
    /// On CurlStack libcurl answers. It reads only the first Digest challenge of a response, so a second one that it could answer
    /// does not help.
    public enum DigestLimit: Hashable, Sendable {
        /// The challenge uses this algorithm. MD5, MD5-sess, SHA-256 and SHA-256-sess are supported. libcurl 7.88 answers
        /// SHA-512-256 wrongly (curl #12897).
        case algorithm(String)
        /// The challenge offers `auth-int` but not `auth`: the answer is wrong if the request has a body.
        case integrityProtection
        /// The challenge has blanks around a `=`, which libcurl does not read.
        case blanks
        /// The challenge has no `nonce`.
        case noNonce
    }
}

extension HTTP.DigestLimit: CustomStringConvertible {
    /// The limit, in a sentence.
    public var description: String {
        switch self {
        case .algorithm(let name): "The Digest challenge names the algorithm \(name), which is not answered."
        case .integrityProtection: "The Digest challenge asks for auth-int, which is answered only without a body."
        case .blanks: "The Digest challenge has blanks around an equals sign, which libcurl does not accept."
        case .noNonce: "The Digest challenge has no nonce."
        }
    }
}

extension HTTP.Response {
    /// Why the Digest challenge of this 401 cannot be answered on CurlStack; `nil` if there is none, or if it can be answered. If
    /// ``HTTP/Options/digestCredentials`` include the server and this is `nil`, the server rejected the credentials.
    public var digestLimit: HTTP.DigestLimit? {
        guard status == .unauthorized else { return nil }
        for line in headers.values(for: .wwwAuthenticate) {
            let found = HTTP.Challenge.parse(line).first { $0.challenge.scheme == .digest }
            if let found { return found.hasBlanks ? .blanks : found.challenge.digestLimit }
        }
        return nil
    }
}

extension HTTP.Challenge {
    fileprivate var digestLimit: HTTP.DigestLimit? {
        guard parameters["nonce"] != nil else { return .noNonce }
        let algorithm = parameters["algorithm"] ?? "MD5"
        guard ["md5", "md5-sess", "sha-256", "sha-256-sess"].contains(algorithm.asciiLowercased) else {
            return .algorithm(algorithm)
        }
        let offered = parameters["qop"].map { CodingList.names(Array($0.asciiLowercased.utf8).span) } ?? ["auth"]
        return offered.contains("auth-int") && !offered.contains("auth") ? .integrityProtection : nil
    }
}
