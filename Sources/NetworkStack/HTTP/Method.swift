extension HTTP {
    /// A request method (RFC 9110 section 9), such as `GET`.
    ///
    /// Any token is a method. One that is no token is refused before anything is sent, with ``HTTP/InvalidValue``.
    public struct Method: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The method as it goes on the wire. Methods are case-sensitive.
        public let rawValue: String

        /// Names a method.
        ///
        /// - Parameter rawValue: The method as it goes on the wire.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Names a method.
        ///
        /// - Parameter value: The method as it goes on the wire.
        public init(stringLiteral value: String) { rawValue = value }

        /// The method as it goes on the wire.
        public var description: String { rawValue }

        /// Transfers a representation of the target.
        public static let GET = Method(rawValue: "GET")
        /// Like `GET`, without the content.
        public static let HEAD = Method(rawValue: "HEAD")
        /// Has the target process the request's content.
        public static let POST = Method(rawValue: "POST")
        /// Replaces the target's representation.
        public static let PUT = Method(rawValue: "PUT")
        /// Changes the target in part (RFC 5789).
        public static let PATCH = Method(rawValue: "PATCH")
        /// Removes the target.
        public static let DELETE = Method(rawValue: "DELETE")
        /// Asks what can be done with the target.
        public static let OPTIONS = Method(rawValue: "OPTIONS")
        /// Has the request sent back as it arrived. It takes no cookie of a jar along, and no credentials that a stack keeps (RFC
        /// 9110 section 9.3.8); what is written into the request itself stays.
        public static let TRACE = Method(rawValue: "TRACE")

        /// Whether repeating the request has the effect of making it once (RFC 9110 section 9.2.2).
        public var isIdempotent: Bool { isSafe || self == .PUT || self == .DELETE }

        /// Whether the request asks for no change (RFC 9110 section 9.2.1).
        public var isSafe: Bool { self == .GET || self == .HEAD || self == .OPTIONS || self == .TRACE }
    }
}
