extension HTTP {
    /// An authentication scheme (RFC 9110 section 11.1), such as `Bearer`. Case does not count when schemes are compared.
    public struct AuthScheme: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
    {
        /// The scheme's name as it was written.
        public let rawValue: String

        /// Names a scheme.
        ///
        /// - Parameter rawValue: The scheme's name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Names a scheme.
        ///
        /// - Parameter value: The scheme's name.
        public init(stringLiteral value: String) { rawValue = value }

        /// The scheme's name as it was written.
        public var description: String { rawValue }

        /// Whether two names are the same but for case.
        public static func == (left: AuthScheme, right: AuthScheme) -> Bool {
            left.rawValue.asciiLowercased == right.rawValue.asciiLowercased
        }

        /// Feeds the name, lowered, to a hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(rawValue.asciiLowercased) }

        /// The value of `Authorization` or `Proxy-Authorization` for a token.
        ///
        ///     request.headers[.authorization] = HTTP.AuthScheme.bearer.credentials(token)
        ///
        /// - Parameter token: The token, or whatever else the scheme has follow its name. A line break in it is refused
        ///   before the request is sent.
        /// - Returns: The scheme's name, a space and the token.
        public func credentials(_ token: String) -> String { "\(rawValue) \(token)" }

        /// A user's name and password, merely encoded (RFC 7617).
        public static let basic: AuthScheme = "Basic"
        /// A token that authorises whoever holds it (RFC 6750): OAuth 2.0's usual one.
        public static let bearer: AuthScheme = "Bearer"
        /// A signature by which a server tells who may know of it; to others it is not there (RFC 9729).
        public static let concealed: AuthScheme = "Concealed"
        /// A password that is not sent itself, only a digest of it (RFC 7616).
        public static let digest: AuthScheme = "Digest"
        /// A token bound to a key that every request is signed with (RFC 9449).
        public static let dpop: AuthScheme = "DPoP"
        /// Tokens of the Grant Negotiation and Authorization Protocol (RFC 9635).
        public static let gnap: AuthScheme = "GNAP"
        /// Signatures by keys bound to the origin (RFC 7486).
        public static let hoba: AuthScheme = "HOBA"
        /// A password proved by both sides (RFC 8120).
        public static let mutual: AuthScheme = "Mutual"
        /// Kerberos or another mechanism of GSS-API (RFC 4559).
        public static let negotiate: AuthScheme = "Negotiate"
        /// Signatures of the first version of OAuth (RFC 5849).
        public static let oauth: AuthScheme = "OAuth"
        /// Tokens that say nothing about who holds them (RFC 9577).
        public static let privateToken: AuthScheme = "PrivateToken"
        /// A salted challenge and response, with SHA-1 (RFC 7804).
        public static let scramSHA1: AuthScheme = "SCRAM-SHA-1"
        /// A salted challenge and response, with SHA-256 (RFC 7804).
        public static let scramSHA256: AuthScheme = "SCRAM-SHA-256"
        /// An application server's key in web push (RFC 8292).
        public static let vapid: AuthScheme = "vapid"
    }
}
