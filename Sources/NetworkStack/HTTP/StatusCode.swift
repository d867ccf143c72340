extension HTTP {
    /// A response status code (RFC 9110 section 15).
    public struct StatusCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible
    {
        /// The number.
        public let rawValue: Int

        /// Names a status.
        ///
        /// - Parameter rawValue: The number; any is accepted, as servers send any.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Names a status.
        ///
        /// - Parameter value: The number.
        public init(_ value: Int) { rawValue = value }

        /// Names a status.
        ///
        /// - Parameter value: The number.
        public init(integerLiteral value: Int) { rawValue = value }

        /// The number as text.
        public var description: String { String(rawValue) }

        /// What the first digit says.
        public enum Class: Hashable, Sendable {
            /// 1xx: the request goes on.
            case informational
            /// 2xx: the request was understood and accepted.
            case success
            /// 3xx: more has to be done.
            case redirection
            /// 4xx: the request is at fault.
            case clientError
            /// 5xx: the server is at fault.
            case serverError
            /// A number outside 100 to 599.
            case unknown
        }

        /// What the first digit says.
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
    }
}
