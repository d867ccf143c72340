extension HTTP {
    /// A URL scheme a stack can fetch.
    public struct Scheme: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The scheme in lower case.
        public let rawValue: String

        /// Names a scheme.
        ///
        /// - Parameter rawValue: The scheme; letters are lowered (RFC 3986 section 3.1).
        public init(rawValue: String) { self.rawValue = rawValue.lowercased() }

        /// The scheme in lower case.
        public var description: String { rawValue }

        /// HTTP in the clear.
        public static let http = Scheme(rawValue: "http")
        /// HTTP over TLS.
        public static let https = Scheme(rawValue: "https")

        /// The port a URL without one means, if the scheme is known.
        public var defaultPort: Int? {
            switch self {
            case .http: 80
            case .https: 443
            default: nil
            }
        }
    }
}
