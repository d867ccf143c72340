extension HTTP {
    /// A value that HTTP, or this library, does not allow: a URL, a header field, an option, a proxy's address.
    ///
    /// Makers of requests and configurations throw it before anything is sent. A fetch whose request has such a value ends with
    /// ``HTTPFetchError/invalidRequest(_:)``, or with ``HTTPFetchError/noRequest(_:)`` if its maker threw this error.
    public struct InvalidValue: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong and what to change, in a sentence without user info, query or header values.
        public let reason: String

        /// Makes the error.
        ///
        /// - Parameter reason: What is wrong and what to change, in a sentence without secrets.
        public init(_ reason: String) { self.reason = reason }

        /// The reason.
        public var description: String { reason }
    }
}
