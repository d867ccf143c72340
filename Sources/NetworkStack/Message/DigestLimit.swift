extension HTTP {
    /// Why a Digest challenge (RFC 7616) cannot be answered, although there are credentials for its server.
    public enum DigestLimit: Hashable, Sendable {
        /// The challenge uses this algorithm. MD5, SHA-256, SHA-512-256 and their `-sess` variants are supported.
        case algorithm(String)
        /// The challenge offers `auth-int` but not `auth`: the answer is wrong if the request has a body.
        case integrityProtection
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
        case .noNonce: "The Digest challenge has no nonce."
        }
    }
}

extension HTTP.Response {
    /// Why none of the Digest challenges of this 401 can be answered on CurlStack: the reason for the first. `nil` if there is none,
    /// or if one can be answered. If it is `nil` and ``HTTP/Options/digestCredentials`` include the server, the server rejected
    /// them.
    public var digestLimit: HTTP.DigestLimit? {
        guard status == .unauthorized else { return nil }
        let limits = headers.challenges.filter { $0.scheme == .digest }.map(\.digestLimit)
        return limits.contains(nil) ? nil : limits.first ?? nil
    }
}

extension HTTP.Challenge {
    /// Why the challenge, which is for Digest, cannot be answered.
    package var digestLimit: HTTP.DigestLimit? {
        guard parameters["nonce"] != nil else { return .noNonce }
        let algorithm = parameters["algorithm"] ?? "MD5"
        let supported = ["md5", "sha-256", "sha-512-256"].flatMap { [$0, $0 + "-sess"] }
        guard supported.contains(algorithm.asciiLowercased) else { return .algorithm(algorithm) }
        let offered = qualitiesOfProtection
        return offered.contains("auth-int") && !offered.contains("auth") ? .integrityProtection : nil
    }

    /// What the challenge, which is for Digest, offers as `qop`, in lower case. A server of RFC 2069 offers nothing.
    package var qualitiesOfProtection: [String] {
        parameters["qop"].map { CodingList.names(Array($0.asciiLowercased.utf8).span) } ?? []
    }
}
