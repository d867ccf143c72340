extension HTTP {
    /// A response status code (RFC 9110 section 15).
    public struct StatusCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible
    {
        /// The number.
        public let rawValue: Int

        /// Makes a status.
        ///
        /// - Parameter rawValue: The number. Any number is accepted, because servers send any.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Makes a status.
        ///
        /// - Parameter value: The number.
        public init(_ value: Int) { rawValue = value }

        /// Makes a status.
        ///
        /// - Parameter value: The number.
        public init(integerLiteral value: Int) { rawValue = value }

        /// The number.
        @available(*, unavailable, renamed: "rawValue")
        public var code: Int { rawValue }

        /// The number as text.
        public var description: String { String(rawValue) }

        /// The classes of the first digit.
        public enum Class: Hashable, Sendable {
            /// 1xx: the final response follows.
            case informational
            /// 2xx: the request was understood and accepted.
            case success
            /// 3xx: the client has to take further action.
            case redirection
            /// 4xx: the request has an error.
            case clientError
            /// 5xx: the server failed.
            case serverError
            /// A number outside 100 to 599.
            case unknown
        }

        /// The class, from the first digit.
        public var statusClass: Class {
            switch rawValue {
            case 100...199: .informational
            case 200...299: .success
            case 300...399: .redirection
            case 400...499: .clientError
            case 500...599: .serverError
            default: .unknown
            }
        }

        /// Whether a response with this status never has a body, whatever its head announces (RFC 9112 section 6.3). A response to HEAD
        /// has none either.
        package var neverHasBody: Bool {
            self == .noContent || self == .notModified || statusClass == .informational
        }
    }
}
