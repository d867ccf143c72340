extension HTTP {
    /// An authentication scheme (RFC 9110 section 11.1), such as `Bearer`. Comparison ignores case.
    public struct AuthScheme: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
    {
        /// The scheme's name as written.
        public let rawValue: String

        /// Makes a scheme.
        ///
        /// - Parameter rawValue: The scheme's name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a scheme.
        ///
        /// - Parameter value: The scheme's name.
        public init(stringLiteral value: String) { rawValue = value }

        /// The scheme's name as written.
        public var description: String { rawValue }

        /// Compares two names without regard to case.
        public static func == (left: AuthScheme, right: AuthScheme) -> Bool {
            left.rawValue.asciiLowercased == right.rawValue.asciiLowercased
        }

        /// Feeds the lower-case name to a hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(rawValue.asciiLowercased) }

        /// The value of `Authorization` or `Proxy-Authorization` for a token.
        ///
        ///     request.headers[.authorization] = HTTP.AuthScheme.bearer.credentials(token)
        ///
        /// - Parameter token: The token, or what else the scheme puts after its name. A request with a line break in it is
        ///   refused before it is sent.
        /// - Returns: The scheme's name, a space and the token.
        public func credentials(_ token: String) -> String { "\(rawValue) \(token)" }

        /// A user's name and password in base64, not encrypted (RFC 7617).
        public static let basic: AuthScheme = "Basic"
        /// A token that authorises its holder (RFC 6750), as usual with OAuth 2.0.
        public static let bearer: AuthScheme = "Bearer"
        /// A signature that is sent unasked, so that a server can hide a resource from other clients (RFC 9729).
        public static let concealed: AuthScheme = "Concealed"
        /// A digest of a password, which itself is not sent (RFC 7616).
        public static let digest: AuthScheme = "Digest"
        /// A token bound to a key that signs every request (RFC 9449).
        public static let dpop: AuthScheme = "DPoP"
        /// Tokens of the Grant Negotiation and Authorization Protocol (RFC 9635).
        public static let gnap: AuthScheme = "GNAP"
        /// Signatures with keys bound to the origin (RFC 7486).
        public static let hoba: AuthScheme = "HOBA"
        /// A password that both sides prove to know (RFC 8120).
        public static let mutual: AuthScheme = "Mutual"
        /// Kerberos or another mechanism of GSS-API (RFC 4559).
        public static let negotiate: AuthScheme = "Negotiate"
        /// Signatures of the first version of OAuth (RFC 5849).
        public static let oauth: AuthScheme = "OAuth"
        /// Tokens that do not identify their holder (RFC 9577).
        public static let privateToken: AuthScheme = "PrivateToken"
        /// A salted challenge and response with SHA-1 (RFC 7804).
        public static let scramSHA1: AuthScheme = "SCRAM-SHA-1"
        /// A salted challenge and response with SHA-256 (RFC 7804).
        public static let scramSHA256: AuthScheme = "SCRAM-SHA-256"
        /// The key of an application server in web push (RFC 8292).
        public static let vapid: AuthScheme = "vapid"
    }
}
