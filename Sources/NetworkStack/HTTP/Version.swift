extension HTTP {
    /// A version of HTTP.
    public struct Version: Hashable, Sendable, CustomStringConvertible {
        /// The number before the dot.
        public let major: Int
        /// The number after the dot.
        public let minor: Int

        /// Makes a version.
        ///
        /// - Parameters:
        ///   - major: The number before the dot.
        ///   - minor: The number after the dot.
        public init(major: Int, minor: Int) {
            self.major = major
            self.minor = minor
        }

        /// HTTP/1.0 (RFC 1945).
        public static let http1_0 = Version(major: 1, minor: 0)
        /// HTTP/1.1 (RFC 9112).
        public static let http1_1 = Version(major: 1, minor: 1)
        /// HTTP/2 (RFC 9113).
        public static let http2 = Version(major: 2, minor: 0)
        /// HTTP/3 (RFC 9114).
        public static let http3 = Version(major: 3, minor: 0)

        /// The version as in a status line, such as `HTTP/1.1` or `HTTP/2`.
        public var description: String { major > 1 ? "HTTP/\(major)" : "HTTP/\(major).\(minor)" }
    }
}
