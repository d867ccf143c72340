internal import FoundationEssentials

extension HTTP {
    /// A value that HTTP or this library does not allow: a URL, a header field, an option, a proxy's address.
    ///
    /// It is thrown before anything is sent. A fetch whose request has such a value ends with
    /// ``HTTPFetchError/invalidRequest(_:)``, or with ``HTTPFetchError/noRequest(_:)`` if the maker of the request threw this
    /// error.
    public struct InvalidValue: DescribedError, Hashable, Sendable {
        /// The fault and what to change, in a sentence without user info, query or header values.
        public let reason: String

        /// Makes the error.
        ///
        /// - Parameter reason: The fault and what to change, in a sentence without secrets.
        public init(_ reason: String) { self.reason = reason }

        /// The reason.
        public var description: String { reason }
    }
}
