public import FoundationEssentials

extension HTTPFetchError: HTTPError {
    /// The response that failed, if there was one. For `retry`, that of the last failure.
    public var response: Response? {
        switch lastFailure {
        case .http(_, _, let response), .noData(_, let response), .unknownCoding(_, let response),
            .undecodable(_, let response):
            response
        case .badResponse(let response): response
        default: nil
        }
    }

    /// The response in neutral terms.
    public var httpResponse: HTTP.Response? { response?.httpResponse }

    /// The status of the response that failed, if there was one. For `retry`, that of the last failure.
    public var statusCode: HTTP.StatusCode? {
        switch lastFailure {
        case .http(let status, _, _), .noData(let status, _): status
        default: httpResponse?.status
        }
    }

    /// The body of an unsuccessful response, as far as it was collected. For `retry`, that of the last failure.
    public var body: Data? {
        if case .http(_, _, let response) = lastFailure { response.httpResponse?.errorBody } else { nil }
    }

    /// The error of the API that was decoded from the body of an unsuccessful response (``Network/ErrorDecoding``), if it was. For
    /// `retry`, that of the last failure.
    public var apiError: (any Error)? {
        if case .http(_, let error, _) = lastFailure { error } else { nil }
    }

    /// The state of the fetch when it failed, for an error whose case has a context or a response. For `retry`, that of the last failure.
    public var context: HTTP.FetchContext? {
        switch lastFailure {
        case .transport(_, let context), .timedOut(_, _, let context), .untrusted(_, let context),
            .tooManyRedirects(_, let context), .insecureRedirect(_, let context), .invalidRedirect(_, let context),
            .bodyTooLarge(_, let context), .decompressionRatio(_, let context), .headTooLarge(_, let context),
            .headLineTooLong(_, let context), .tooManyFields(_, let context), .bodyNotReplayable(let context),
            .requestBody(_, let context), .localFile(_, let context), .interceptor(_, let context):
            context
        default: httpResponse.map(HTTP.FetchContext.init)
        }
    }

    /// The failure itself; for `retry`, the last failure.
    public var lastError: any Error { lastFailure }

    /// The same, with its type. Short calls throw it.
    var lastFailure: Self {
        if case .retry(_, let state) = self { (state.errors.last as? Self)?.lastFailure ?? self } else { self }
    }

    /// Whether a timeout ended the fetch.
    public var isTimeout: Bool { if case .timedOut = lastFailure { true } else { false } }

    /// Whether ``Network/Configuration/serverTrust`` refused the server.
    public var isUntrusted: Bool { if case .untrusted = lastFailure { true } else { false } }

    /// Whether the fetch was cancelled.
    public var isCancelled: Bool { if case .cancelled = self { true } else { false } }

    /// Whether the request provably never reached the server at which it failed, so that sending it again is always safe. After a
    /// redirect, another server has received one: see ``Retry/State/requestMayHaveArrived``.
    public var isRetryable: Bool {
        switch self {
        case .transport(let error, _):
            guard let kind = (error as? any HTTPTransportError)?.kind else { return false }
            return kind == .dns || kind == .connect || kind == .proxy
        case .timedOut(_, let phase, _): return phase.isBeforeSending
        default: return false
        }
    }

    /// The kind of a transport's failure, if there is one. For `retry`, that of the last failure.
    public var transportFailure: HTTP.FailureKind? {
        switch lastFailure {
        case .transport(let error, _): (error as? any HTTPTransportError)?.kind
        case .unknownCoding: .decoding
        default: nil
        }
    }

    /// Whether the failure is final, regardless of interceptors' votes: a cancel, the total timeout, a server that is not trusted,
    /// a body that can be sent only once, an illegal request, a shutdown, a body that was not decoded or written, a second reader of a
    /// stream, and the end of the retries.
    public var isFinal: Bool {
        switch self {
        case .cancelled, .retry, .invalidRequest, .timedOut(.total, _, _), .bodyNotReplayable, .untrusted, .shutDown,
            .undecodable, .localFile, .concurrentRead:
            true
        default: false
        }
    }

    /// The name of the case, such as `timedOut`. For `retry`, that of the last failure.
    public var caseName: String {
        switch lastFailure {
        case .retry: "retry"
        case .noRequest: "noRequest"
        case .invalidRequest: "invalidRequest"
        case .unsupported: "unsupported"
        case .http: "http"
        case .noData: "noData"
        case .badResponse: "badResponse"
        case .unknownCoding: "unknownCoding"
        case .transport: "transport"
        case .timedOut: "timedOut"
        case .untrusted: "untrusted"
        case .tooManyRedirects: "tooManyRedirects"
        case .insecureRedirect: "insecureRedirect"
        case .invalidRedirect: "invalidRedirect"
        case .bodyTooLarge: "bodyTooLarge"
        case .decompressionRatio: "decompressionRatio"
        case .headTooLarge: "headTooLarge"
        case .headLineTooLong: "headLineTooLong"
        case .tooManyFields: "tooManyFields"
        case .bodyNotReplayable: "bodyNotReplayable"
        case .requestBody: "requestBody"
        case .interceptor: "interceptor"
        case .undecodable: "undecodable"
        case .localFile: "localFile"
        case .concurrentRead: "concurrentRead"
        case .shutDown: "shutDown"
        case .cancelled: "cancelled"
        }
    }
}
