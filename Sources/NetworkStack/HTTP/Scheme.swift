extension HTTP {
    /// A URL scheme.
    public struct Scheme: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The scheme in lower case.
        public let rawValue: String

        /// Makes a scheme.
        ///
        /// - Parameter rawValue: The scheme; its letters become lower case (RFC 3986 section 3.1).
        public init(rawValue: String) { self.rawValue = rawValue.lowercased() }

        /// The scheme in lower case.
        public var description: String { rawValue }

        /// HTTP without TLS.
        public static let http = Scheme(rawValue: "http")
        /// HTTP over TLS.
        public static let https = Scheme(rawValue: "https")

        /// The port of a URL without a port, if the scheme is known.
        public var defaultPort: Int? {
            switch self {
            case .http: 80
            case .https: 443
            default: nil
            }
        }
    }
}
