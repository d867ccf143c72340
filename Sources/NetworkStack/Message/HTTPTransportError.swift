/// What a transport's error reports on every stack, for shared code.
public protocol HTTPTransportError: Error {
    /// The kind of the failure.
    var kind: HTTP.FailureKind { get }
    /// The phase in which the transfer failed, if known.
    var phase: HTTP.Phase? { get }
    /// The status with which a proxy refused a tunnel, if that was the failure.
    var proxyStatus: HTTP.StatusCode? { get }
    /// The failure in a sentence, without secrets. The description of a fetch's error begins with it.
    var failureDescription: String { get }
}

extension HTTPTransportError {
    /// Always `nil`, for transports without proxies.
    public var proxyStatus: HTTP.StatusCode? { nil }

    /// The description of the error.
    public var failureDescription: String { "\(self)" }
}

extension HTTP {
    /// The kinds of failures of a transfer.
    public struct FailureKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let rawValue: String

        /// Makes a kind.
        ///
        /// - Parameter rawValue: The kind's name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The kind's name.
        public var description: String { rawValue }

        /// The host's name could not be resolved. Nothing was sent, so any request may be retried.
        public static let dns = FailureKind(rawValue: "dns")
        /// The connection could not be opened. Nothing was sent, so any request may be retried.
        public static let connect = FailureKind(rawValue: "connect")
        /// TLS could not be negotiated, or the server is not trusted.
        public static let tls = FailureKind(rawValue: "tls")
        /// The request could not be sent.
        public static let send = FailureKind(rawValue: "send")
        /// The connection broke while the response was awaited or received.
        public static let receive = FailureKind(rawValue: "receive")
        /// The response ended before it was complete.
        public static let truncated = FailureKind(rawValue: "truncated")
        /// The connection ended without a response.
        public static let empty = FailureKind(rawValue: "empty")
        /// The response violates HTTP.
        public static let malformed = FailureKind(rawValue: "malformed")
        /// The body could not be decompressed.
        public static let decoding = FailureKind(rawValue: "decoding")
        /// The proxy failed or could not be reached; no part of the request reached the origin.
        public static let proxy = FailureKind(rawValue: "proxy")
        /// Anything else.
        public static let other = FailureKind(rawValue: "other")
    }
}
