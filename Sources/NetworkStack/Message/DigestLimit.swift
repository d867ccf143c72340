extension HTTP {
    /// Why a Digest challenge (RFC 7616) is not answered, or not rightly, though there are credentials for its server.
    ///
    /// libcurl answers for CurlStack. It reads the first Digest challenge of a response alone, so another one behind it, which it
    /// could answer, does not help.
    public enum DigestLimit: Hashable, Sendable {
        /// The challenge names this algorithm. Answered are MD5, MD5-sess, SHA-256 and SHA-256-sess; to SHA-512-256, libcurl 7.88
        /// gives a wrong answer (curl/curl #12897).
        case algorithm(String)
        /// The challenge offers `auth-int` and not `auth`: the answer is wrong if the request has content.
        case integrityProtection
        /// The challenge has blanks around a `=`, where libcurl reads none.
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
        case .integrityProtection: "The Digest challenge asks for auth-int, which is answered only without content."
        case .blanks: "The Digest challenge has blanks around a sign, and libcurl reads none."
        case .noNonce: "The Digest challenge has no nonce."
        }
    }
}

extension HTTP.Response {
    /// Why the Digest challenge of this response, a 401, cannot be answered on CurlStack; `nil` if there is none, or nothing stands
    /// in the way. Where ``HTTP/Options/digestCredentials`` name the server and this is `nil`, the credentials were not accepted.
    public var digestLimit: HTTP.DigestLimit? {
        guard status == .unauthorized else { return nil }
        for line in headers.values(for: .wwwAuthenticate) {
            guard let challenge = HTTP.Challenge.list(line).first(where: { $0.scheme == .digest }) else { continue }
            if line.hasBlankAroundSign { return .blanks }
            return challenge.digestLimit
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

extension String {
    /// Whether a blank stands before or after a `=` outside quotes.
    fileprivate var hasBlankAroundSign: Bool {
        var (last, isQuoted, isEscaped) = (UInt8(ascii: " "), false, false)
        for byte in utf8 {
            defer { (last, isEscaped) = (byte, isQuoted && !isEscaped && byte == UInt8(ascii: "\\")) }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            if isQuoted { continue }
            let (sign, blank) = (UInt8(ascii: "="), byte.isBlank)
            if byte == sign && last.isBlank || blank && last == sign { return true }
        }
        return false
    }
}
