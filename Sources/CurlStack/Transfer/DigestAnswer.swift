internal import FoundationEssentials
internal import NetworkStack

/// The answer to a Digest challenge (RFC 7616 section 3.4) that libcurl cannot answer, or answers wrongly.
///
/// libcurl reads the first field that has a Digest challenge. It takes the parameters of later challenges in that field for those of the
/// first, and most blanks for parts of values. 7.88 computes SHA-512-256 wrongly (curl #12897).
///
/// If the request is sent again, on another connection for example, it has the same answer with the same nonce count.
struct DigestAnswer {
    /// The value of `Authorization`.
    let field: String

    /// The limit of realm, nonce and opaque value together, which are sent back, in bytes.
    private static let mostRepeated = 4096
    /// The longest field that is left to libcurl, in bytes. It cuts values of more than 1,023.
    private static let mostForLibcurl = 1000

    /// Finds the challenges that can be answered here.
    ///
    /// - Parameters:
    ///   - headers: The fields of a 401.
    ///   - isOurs: Whether the request already had such an answer. libcurl then has no credentials.
    /// - Returns: The challenges, in order; none if libcurl answers the first one correctly.
    static func candidates(in headers: HTTP.Headers, afterAnswer isOurs: Bool) -> [HTTP.Challenge] {
        var found: [HTTP.Challenge] = []
        for line in headers.values(for: .wwwAuthenticate) {
            let all = HTTP.Challenge.parse(line)
            for (place, (challenge, hasBlanks)) in all.enumerated() where challenge.scheme == .digest {
                let isReadByLibcurl =
                    found.isEmpty && place == all.count - 1 && !hasBlanks && !line.contains(" ,")
                    && !line.contains("\t") && line.utf8.count <= mostForLibcurl
                if isReadByLibcurl, !isOurs, Algorithm(of: challenge)?.isLibcurls ?? false { return [] }
                found.append(challenge)
            }
        }
        return found.filter { $0.digestLimit == nil }
    }

    /// Answers a challenge. Fails if it has a limit (``HTTP/DigestLimit``), if a value of it is too long or cannot be sent, and if
    /// OpenSSL refuses the algorithm.
    ///
    /// - Parameters:
    ///   - challenge: The challenge, for Digest.
    ///   - credentials: The user and the password.
    ///   - method: The method of the request.
    ///   - target: Its target, in origin form.
    ///   - clientNonce: A random text, which only tests choose.
    init?(
        to challenge: HTTP.Challenge,
        _ credentials: HTTP.Credentials,
        method: String,
        target: String,
        clientNonce: String = Self.random()
    ) {
        guard let algorithm = Algorithm(of: challenge), let nonce = challenge.parameters["nonce"] else { return nil }
        let (realm, opaque, hash) = (challenge.realm ?? "", challenge.parameters["opaque"], algorithm.hash)
        let count = "00000001"
        guard realm.utf8.count + nonce.utf8.count + (opaque?.utf8.count ?? 0) <= Self.mostRepeated else { return nil }
        let isPlain = !challenge.qualitiesOfProtection.contains("auth")
        guard var secret = hash("\(credentials.user):\(realm):\(credentials.password)"),
            let request = hash("\(method):\(target)")
        else { return nil }
        if algorithm.isSession {
            guard let session = hash("\(secret):\(nonce):\(clientNonce)") else { return nil }
            secret = session
        }
        let proven = isPlain ? "\(nonce):\(request)" : "\(nonce):\(count):\(clientNonce):auth:\(request)"
        guard let response = hash("\(secret):\(proven)") else { return nil }

        var user = credentials.user
        let hashesUser = challenge.parameters["userhash"]?.lowercased() == "true"
        if hashesUser {
            guard let hashed = hash("\(user):\(realm)") else { return nil }
            user = hashed
        }
        var parts = [
            "username=\(user.asQuotedString)", "realm=\(realm.asQuotedString)", "nonce=\(nonce.asQuotedString)",
            "uri=\(target.asQuotedString)", "response=\"\(response)\"",
        ]
        if let name = challenge.parameters["algorithm"] { parts.append("algorithm=\(name)") }
        if !isPlain { parts += ["qop=auth", "nc=\(count)"] }
        if !isPlain || algorithm.isSession { parts.append("cnonce=\"\(clientNonce)\"") }
        if let opaque { parts.append("opaque=\(opaque.asQuotedString)") }
        if hashesUser { parts.append("userhash=true") }
        field = "Digest " + parts.joined(separator: ", ")
        guard field.utf8.allSatisfy(\.isValueByte) else { return nil }
    }

    /// 126 random bits, in hexadecimal.
    private static func random() -> String {
        (0..<2).map { _ in String(UInt64.random(in: 1 << 63...UInt64.max), radix: 16) }.joined()
    }
}

extension DigestAnswer {
    /// The algorithm of a challenge.
    private struct Algorithm {
        let hash: TextHash
        /// Whether the secret depends on the nonces, too.
        let isSession: Bool
        private let hasQuality: Bool

        /// `nil` if it is not supported.
        init?(of challenge: HTTP.Challenge) {
            let name = (challenge.parameters["algorithm"] ?? "MD5").lowercased()
            isSession = name.hasSuffix("-sess")
            hasQuality = !challenge.qualitiesOfProtection.isEmpty
            guard challenge.digestLimit == nil, let hash = TextHash(rawValue: name.replacing("-sess", with: "")) else {
                return nil
            }
            self.hash = hash
        }

        /// Whether libcurl computes the answer. It refuses a session without a quality of protection.
        var isLibcurls: Bool { hash != .sha512_256 && (!isSession || hasQuality) }
    }
}
