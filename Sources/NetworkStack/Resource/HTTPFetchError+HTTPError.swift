public import FoundationEssentials

extension HTTPFetchError: HTTPError {
    /// The response that came with the failure, if one did. For `retry`, that of the last failure.
    public var response: Response? {
        switch self {
        case .http(_, _, let response), .noData(_, let response), .unknownCoding(_, let response),
            .undecodable(_, let response):
            response
        case .badResponse(let response): response
        case .retry: lastFetchError?.response
        default: nil
        }
    }

    /// The response in neutral terms.
    public var httpResponse: HTTP.Response? { response?.httpResponse }

    /// The status that came with the failure, if one did. For `retry`, that of the last failure.
    public var statusCode: HTTP.StatusCode? {
        switch self {
        case .http(let status, _, _), .noData(let status, _): status
        case .retry: lastFetchError?.statusCode
        default: httpResponse?.status
        }
    }

    /// The content of an unsuccessful response, as far as it was collected. For `retry`, that of the last failure.
    public var body: Data? {
        switch self {
        case .http(_, _, let response): response.httpResponse?.errorBody
        case .retry: lastFetchError?.body
        default: nil
        }
    }

    /// Where the fetch was when it failed; `nil` if it got nowhere. For `retry`, where it was at the last failure.
    public var context: HTTP.FetchContext? {
        switch self {
        case .transport(_, let context), .timedOut(_, _, let context), .untrusted(_, let context),
            .tooManyRedirects(_, let context), .insecureRedirect(_, let context), .invalidRedirect(_, let context),
            .bodyTooLarge(_, let context), .decompressionRatio(_, let context), .headTooLarge(_, let context),
            .headLineTooLong(_, let context), .tooManyFields(_, let context), .bodyNotReplayable(let context),
            .requestBody(_, let context), .localFile(_, let context):
            context
        case .retry: lastFetchError?.context
        default: httpResponse.map(HTTP.FetchContext.init)
        }
    }

    /// The failure itself; for `retry`, the last failure that led to it.
    public var lastError: any Error { lastFailure }

    /// The same, with its type. Short calls throw it.
    var lastFailure: Self { lastFetchError ?? self }

    private var lastFetchError: Self? {
        guard case .retry(_, let state) = self else { return nil }
        return state.errors.last as? Self
    }

    /// Whether a clock ended the fetch.
    public var isTimeout: Bool {
        switch self {
        case .timedOut: true
        case .retry: lastFetchError?.isTimeout ?? false
        default: false
        }
    }

    /// Whether the fetch was cancelled.
    public var isCancelled: Bool { if case .cancelled = self { true } else { false } }

    /// Whether the request provably never reached the server that it failed at, so that sending it again is safe whatever it
    /// does. After a redirect another server has seen one: see ``Retry/State/requestMayHaveArrived``.
    public var isRetryable: Bool {
        switch self {
        case .transport(let error, _):
            guard let kind = (error as? any HTTPTransportError)?.kind else { return false }
            return kind == .dns || kind == .connect || kind == .proxy
        case .timedOut(_, let phase, _): return phase.isBeforeSending
        default: return false
        }
    }

    /// What went wrong in the transfer, if the transfer failed and its error knows. For `retry`, that of the last failure.
    public var transportFailure: HTTP.FailureKind? {
        switch self {
        case .transport(let error, _): (error as? any HTTPTransportError)?.kind
        case .retry: lastFetchError?.transportFailure
        case .unknownCoding: .decoding
        default: nil
        }
    }

    /// Whether it stands, whatever interceptors vote: a cancel, the total timeout, a server that is not trusted, content that
    /// can be sent only once, a request that cannot be sent, a shutdown, and the end of retrying itself.
    public var isFinal: Bool {
        switch self {
        case .cancelled, .retry, .invalidRequest, .timedOut(.total, _, _), .bodyNotReplayable, .untrusted, .shutDown,
            .undecodable, .localFile, .concurrentRead:
            true
        default: false
        }
    }
}
