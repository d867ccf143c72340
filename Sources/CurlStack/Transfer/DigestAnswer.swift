internal import FoundationEssentials
internal import NetworkStack

/// The answer to a Digest challenge (RFC 7616 section 3.4) that libcurl cannot answer, or answers wrongly.
///
/// libcurl reads only the first Digest challenge of a response, and no blanks around an equals sign. 7.88 computes
/// SHA-512-256 wrongly (curl #12897).
struct DigestAnswer {
    /// The value of `Authorization`.
    let field: String

    /// A longer answer is not sent. Servers refuse heads of twice as much.
    private static let longest = 4096

    /// Finds the challenge to answer here.
    ///
    /// - Parameters:
    ///   - headers: The fields of the response.
    ///   - isOurs: Whether the request had an answer of this type. libcurl then has no credentials to answer with.
    /// - Returns: The first challenge that can be answered; `nil` if there is none, or if libcurl answers it.
    static func challenge(in headers: HTTP.Headers, afterAnswer isOurs: Bool) -> HTTP.Challenge? {
        let all = headers.values(for: .wwwAuthenticate).flatMap { HTTP.Challenge.parse($0) }
            .filter { $0.challenge.scheme == .digest }
        guard let place = all.firstIndex(where: { $0.challenge.digestLimit == nil }) else { return nil }
        let (challenge, hasBlanks) = all[place]
        let isLibcurls = place == 0 && !hasBlanks && Algorithm(of: challenge)?.isLibcurls ?? false
        return isLibcurls && !isOurs ? nil : challenge
    }

    /// Answers a challenge, or fails if a value cannot be sent, or OpenSSL does not have the algorithm.
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
        let (realm, hash) = (challenge.realm ?? "", algorithm.hash)
        let count = "00000001"
        // A server of RFC 2069 names no quality of protection.
        let isPlain = challenge.parameters["qop"] == nil
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
            "username=\(Self.quoted(user))", "realm=\(Self.quoted(realm))", "nonce=\(Self.quoted(nonce))",
            "uri=\(Self.quoted(target))", "response=\"\(response)\"",
        ]
        if let name = challenge.parameters["algorithm"] { parts.append("algorithm=\(name)") }
        if !isPlain { parts += ["qop=auth", "nc=\(count)"] }
        if !isPlain || algorithm.isSession { parts.append("cnonce=\"\(clientNonce)\"") }
        if let opaque = challenge.parameters["opaque"] { parts.append("opaque=\(Self.quoted(opaque))") }
        if hashesUser { parts.append("userhash=true") }
        field = "Digest " + parts.joined(separator: ", ")
        guard field.utf8.count <= Self.longest, field.utf8.allSatisfy(\.isValueByte) else { return nil }
    }

    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// Two numbers that nobody can predict.
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

        /// `nil` if it is not supported.
        init?(of challenge: HTTP.Challenge) {
            let name = (challenge.parameters["algorithm"] ?? "MD5").lowercased()
            isSession = name.hasSuffix("-sess")
            guard challenge.digestLimit == nil, let hash = TextHash(rawValue: name.replacing("-sess", with: "")) else {
                return nil
            }
            self.hash = hash
        }

        /// Whether libcurl computes it.
        var isLibcurls: Bool { hash != .sha512_256 }
    }
}
