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
            let (left, right) = (left.rawValue.utf8, right.rawValue.utf8)
            // Most differ in length, which is known.
            return left.count == right.count && left.elementsEqual(right) { $0.asciiLowercased == $1.asciiLowercased }
        }

        /// Feeds the name, lowered, to a hasher.
        public func hash(into hasher: inout Hasher) {
            for byte in rawValue.utf8 { hasher.combine(byte.asciiLowercased) }
        }

        /// Whether the field carries a secret that belongs in no description or log.
        var isSecret: Bool {
            self == .authorization || self == .cookie || self == .proxyAuthorization || self == .setCookie
        }
    }
}
