extension HTTP {
    /// The name of a header field (RFC 9110 section 5.1). Case does not count when names are compared.
    public struct HeaderName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
    {
        /// The name as it was written.
        public let rawValue: String

        /// Names a field.
        ///
        /// - Parameter rawValue: The name; one that is no token is refused when a request with it is sent.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Names a field.
        ///
        /// - Parameter value: The name; one that is no token is refused when a request with it is sent.
        public init(_ value: String) { rawValue = value }

        /// Names a field.
        ///
        /// - Parameter value: The name.
        public init(stringLiteral value: String) { rawValue = value }

        /// The name as it was written.
        public var description: String { rawValue }

        /// Whether two names are the same but for case.
        public static func == (left: HeaderName, right: HeaderName) -> Bool {
            left.rawValue.utf8.elementsEqual(right.rawValue.utf8) { $0.asciiLowercased == $1.asciiLowercased }
        }

        /// Feeds the name, lowered, to a hasher.
        public func hash(into hasher: inout Hasher) {
            for byte in rawValue.utf8 { hasher.combine(byte.asciiLowercased) }
        }

        /// Media types the client accepts.
        public static let accept: HeaderName = "Accept"
        /// Content codings the client accepts.
        public static let acceptEncoding: HeaderName = "Accept-Encoding"
        /// Languages the client prefers.
        public static let acceptLanguage: HeaderName = "Accept-Language"
        /// Credentials for the origin.
        public static let authorization: HeaderName = "Authorization"
        /// Caching directives.
        public static let cacheControl: HeaderName = "Cache-Control"
        /// What is to become of the connection.
        public static let connection: HeaderName = "Connection"
        /// Codings applied to the content.
        public static let contentEncoding: HeaderName = "Content-Encoding"
        /// The content's language.
        public static let contentLanguage: HeaderName = "Content-Language"
        /// The content's length in bytes.
        public static let contentLength: HeaderName = "Content-Length"
        /// Where the content has a URL of its own.
        public static let contentLocation: HeaderName = "Content-Location"
        /// Which part of a representation the content is.
        public static let contentRange: HeaderName = "Content-Range"
        /// The content's media type.
        public static let contentType: HeaderName = "Content-Type"
        /// State the server gave the client (RFC 6265).
        public static let cookie: HeaderName = "Cookie"
        /// When the message was made.
        public static let date: HeaderName = "Date"
        /// The representation's validator.
        public static let eTag: HeaderName = "ETag"
        /// What the client expects of the server before it sends content.
        public static let expect: HeaderName = "Expect"
        /// The target's host and port.
        public static let host: HeaderName = "Host"
        /// Makes a request conditional on a validator.
        public static let ifMatch: HeaderName = "If-Match"
        /// Makes a request conditional on a changed validator.
        public static let ifNoneMatch: HeaderName = "If-None-Match"
        /// Where the client is sent.
        public static let location: HeaderName = "Location"
        /// Credentials for a proxy.
        public static let proxyAuthorization: HeaderName = "Proxy-Authorization"
        /// Which part of a representation is asked for.
        public static let range: HeaderName = "Range"
        /// Where the client came from.
        public static let referer: HeaderName = "Referer"
        /// When to ask again.
        public static let retryAfter: HeaderName = "Retry-After"
        /// What the server is.
        public static let server: HeaderName = "Server"
        /// State the server gives the client (RFC 6265).
        public static let setCookie: HeaderName = "Set-Cookie"
        /// Transfer codings the client accepts.
        public static let te: HeaderName = "TE"
        /// Fields that follow the content.
        public static let trailer: HeaderName = "Trailer"
        /// Codings applied to the message.
        public static let transferEncoding: HeaderName = "Transfer-Encoding"
        /// Protocols the client would switch to.
        public static let upgrade: HeaderName = "Upgrade"
        /// What the client is.
        public static let userAgent: HeaderName = "User-Agent"
        /// Request fields the response depends on.
        public static let vary: HeaderName = "Vary"
        /// How the client is to authenticate.
        public static let wwwAuthenticate: HeaderName = "WWW-Authenticate"

        /// Whether the field carries a secret that belongs in no description or log.
        var isSecret: Bool {
            self == .authorization || self == .cookie || self == .proxyAuthorization || self == .setCookie
        }
    }
}
