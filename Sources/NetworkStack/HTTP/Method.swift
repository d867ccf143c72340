extension HTTP {
    /// A request method (RFC 9110 section 9), such as `GET`.
    ///
    /// Any token is a method. Any other text is refused with ``HTTP/InvalidValue`` before anything is sent.
    public struct Method: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The method as sent. Methods are case-sensitive.
        public let rawValue: String

        /// Makes a method.
        ///
        /// - Parameter rawValue: The method as sent.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a method.
        ///
        /// - Parameter value: The method as sent.
        public init(stringLiteral value: String) { rawValue = value }

        /// The method as sent.
        public var description: String { rawValue }

        /// Transfers a representation of the target.
        public static let GET = Method(rawValue: "GET")
        /// Like `GET`, without the body.
        public static let HEAD = Method(rawValue: "HEAD")
        /// Has the target process the request's body.
        public static let POST = Method(rawValue: "POST")
        /// Replaces the target's representation.
        public static let PUT = Method(rawValue: "PUT")
        /// Changes the target in part (RFC 5789).
        public static let PATCH = Method(rawValue: "PATCH")
        /// Removes the target.
        public static let DELETE = Method(rawValue: "DELETE")
        /// Asks which methods the target supports.
        public static let OPTIONS = Method(rawValue: "OPTIONS")
        /// Has the request returned as it arrived. The stack adds no cookies, no stored credentials and no secret fields of
        /// its configuration to it (RFC 9110 section 9.3.8); fields of the request itself are sent.
        public static let TRACE = Method(rawValue: "TRACE")

        /// Whether repeating the request has the same effect as sending it once (RFC 9110 section 9.2.2).
        public var isIdempotent: Bool { isSafe || self == .PUT || self == .DELETE }

        /// Whether the request asks for no change (RFC 9110 section 9.2.1).
        public var isSafe: Bool { self == .GET || self == .HEAD || self == .OPTIONS || self == .TRACE }
    }
}
