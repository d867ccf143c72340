extension HTTP {
    /// The name of a header field (RFC 9110 section 5.1). Comparison ignores case.
    public struct HeaderName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
    {
        /// The name as written.
        public let rawValue: String

        /// Makes a name.
        ///
        /// - Parameter rawValue: The name. A request is refused before it is sent if the name is no token.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a name.
        ///
        /// - Parameter value: The name. A request is refused before it is sent if the name is no token.
        public init(_ value: String) { rawValue = value }

        /// Makes a name.
        ///
        /// - Parameter value: The name.
        public init(stringLiteral value: String) { rawValue = value }

        /// The name as written.
        public var description: String { rawValue }

        /// Compares two names without regard to case.
        public static func == (left: HeaderName, right: HeaderName) -> Bool {
            let (left, right) = (left.rawValue.utf8, right.rawValue.utf8)
            // Most differ in length, which is known.
            return left.count == right.count && left.elementsEqual(right) { $0.asciiLowercased == $1.asciiLowercased }
        }

        /// Feeds the lower-case name to a hasher.
        public func hash(into hasher: inout Hasher) {
            for byte in rawValue.utf8 { hasher.combine(byte.asciiLowercased) }
        }

        /// Whether the field's value is secret and must not appear in descriptions and logs: it holds credentials by its
        /// definition, or by its name.
        var isSecret: Bool {
            self == .authorization || self == .cookie || self == .proxyAuthorization || self == .setCookie
                || namesSecret
        }

        /// Whether a word of the name is one for secrets, or its plural, as in `X-API-Key` and `X-Amz-Security-Token`.
        private var namesSecret: Bool {
            let name = rawValue.asciiLowercased
            if name == "access-control-allow-credentials" { return false }
            // The tokens of a rate limit are counted.
            let counts = name.contains("ratelimit") || name.contains("rate-limit")
            let words = name.split { $0 == "-" || $0 == "_" }
                .map { $0.hasSuffix("s") && !(counts && $0 == "tokens") ? $0.dropLast() : $0 }
            return words.contains {
                Self.wordsForSecrets.contains($0) || $0.hasSuffix("token") || $0.hasSuffix("apikey")
            } || words.contains { $0 == "key" || $0 == "accesskey" } && !Self.describesKey(name, words.last)
        }

        /// Whether a field's name has the word "key", and its value is no secret.
        private static func describesKey(_ name: String, _ last: Substring?) -> Bool {
            publicKeys.contains(name) || ["enabled", "id", "md5", "sha256"].contains(last)
        }

        private static let publicKeys: Set<String> = [
            "cache-key", "idempotency-key", "public-key-pins", "public-key-pins-report-only", "sec-websocket-key",
            "surrogate-key", "x-cache-key", "x-idempotency-key", "x-partition-key", "x-routing-key",
        ]

        /// `Authentication-Info` has the next nonce of Digest, and `DPoP` a signed proof.
        private static let wordsForSecrets: Set<Substring> = [
            "assertion", "auth", "authentication", "authorization", "cookie2", "credential", "csrf", "dpop", "jwt",
            "otp", "passphrase", "passwd", "password", "secret", "session", "sessionid", "xsrf",
        ]
    }
}
