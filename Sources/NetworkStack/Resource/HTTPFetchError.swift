// Indirect, as a result that is handed on has room for its larger side.

/// Every way a fetch on an HTTP stack can fail.
public indirect enum HTTPFetchError<Response: HTTPResponseConvertible, TransportError: Error>: CancellableFetchError {
    /// The request could not be made.
    case noRequest(any Error)
    /// The status is not 2xx. The error is the API's own, if its decoding found one.
    case http(HTTP.StatusCode, (any Error)?, Response)
    /// A success came without content where content was needed.
    case noData(HTTP.StatusCode, Response)
    /// What came is no HTTP response.
    case badResponse(Response?)
    /// The content has a coding that the stack cannot undo, of this name, and ``HTTP/Options/passesUnknownCodings`` is off. Nothing
    /// of the content was delivered.
    case unknownCoding(String, Response)
    /// The transfer failed.
    case transport(TransportError)
    /// The library refused.
    case refused(HTTP.Refusal)
    /// The fetch was not tried again, after it had failed.
    case retry(Retry.Error, Retry.State)
    /// The fetch was cancelled.
    case cancelled
}

/// What a transport's error says in neutral words, so that code above every stack can judge it.
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

extension HTTPFetchError {
    /// The response that came with the failure, if one did. For `retry`, that of the last failure.
    public var response: Response? {
        switch self {
        case .http(_, _, let response), .noData(_, let response), .unknownCoding(_, let response): response
        case .badResponse(let response): response
        case .retry: lastFetchError?.response
        case .noRequest, .transport, .refused, .cancelled: nil
        }
    }

    /// The status that came with the failure, if one did. For `retry`, that of the last failure.
    public var statusCode: HTTP.StatusCode? {
        switch self {
        case .http(let status, _, _), .noData(let status, _): status
        case .retry: lastFetchError?.statusCode
        case .badResponse(let response): response?.httpResponse?.status
        case .unknownCoding(_, let response): response.httpResponse?.status
        case .noRequest, .transport, .refused, .cancelled: nil
        }
    }

    /// The failure itself; for `retry`, the last failure that led to it.
    public var lastError: any Error { lastFetchError ?? self }

    /// Whether a clock ended the fetch.
    public var isTimeout: Bool {
        switch self {
        case .refused(.timedOut): true
        case .retry: lastFetchError?.isTimeout ?? false
        default: false
        }
    }

    /// Whether the request provably never reached the server that it failed at, so that sending it again is safe whatever it
    /// does. After a redirect another server has seen one: see ``Retry/State/requestMayHaveArrived``.
    public var isRetryable: Bool {
        switch self {
        case .transport(let error):
            guard let kind = (error as? any HTTPTransportError)?.kind else { return false }
            return kind == .dns || kind == .connect || kind == .proxy
        case .refused(.timedOut(_, let phase)):
            return phase.isBeforeSending
        case .noRequest, .http, .noData, .badResponse, .unknownCoding, .refused, .retry, .cancelled: return false
        }
    }

    private var lastFetchError: Self? {
        guard case .retry(_, let state) = self else { return nil }
        return state.errors.last as? Self
    }
}
