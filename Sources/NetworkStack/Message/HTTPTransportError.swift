/// What a transport's error answers on every stack, so that shared code can judge it.
public protocol HTTPTransportError: Error {
    /// What went wrong.
    var kind: HTTP.FailureKind { get }
    /// Where in its life the transfer was, if known.
    var phase: HTTP.Phase? { get }
    /// The status a proxy refused a tunnel with, if that is what failed.
    var proxyStatus: HTTP.StatusCode? { get }
}

extension HTTPTransportError {
    /// None: the transport knows of no proxy.
    public var proxyStatus: HTTP.StatusCode? { nil }
}

extension HTTP {
    /// What went wrong in a transfer.
    public struct FailureKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let rawValue: String

        /// Names a kind.
        ///
        /// - Parameter rawValue: The kind's name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The kind's name.
        public var description: String { rawValue }

        /// The name could not be looked up.
        public static let dns = FailureKind(rawValue: "dns")
        /// The connection could not be opened.
        public static let connect = FailureKind(rawValue: "connect")
        /// TLS could not be negotiated, or the server is not trusted.
        public static let tls = FailureKind(rawValue: "tls")
        /// The request could not be sent.
        public static let send = FailureKind(rawValue: "send")
        /// The connection broke while the response was awaited or received.
        public static let receive = FailureKind(rawValue: "receive")
        /// The response ended before it was complete.
        public static let truncated = FailureKind(rawValue: "truncated")
        /// The connection ended without any response.
        public static let empty = FailureKind(rawValue: "empty")
        /// The response breaks the rules of HTTP.
        public static let malformed = FailureKind(rawValue: "malformed")
        /// The content could not be decompressed.
        public static let decoding = FailureKind(rawValue: "decoding")
        /// The proxy failed, or could not be reached; nothing of the request reached the origin.
        public static let proxy = FailureKind(rawValue: "proxy")
        /// Anything else.
        public static let other = FailureKind(rawValue: "other")
    }
}
