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

        /// Whether the field's value is secret and must not appear in descriptions and logs.
        var isSecret: Bool {
            self == .authorization || self == .cookie || self == .proxyAuthorization || self == .setCookie
        }
    }
}
