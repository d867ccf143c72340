public import FoundationEssentials

/// A failure of any transport's hop, as the engine passes it on. It gets its context when the fetch ends with it.
@usableFromInline
typealias HopFailure = HTTPFetchError<HTTP.Response, any Error>

/// How a fetch ended, in neutral terms; ``Fetch`` makes the stack's result of it.
@usableFromInline
enum Ending: Sendable {
    /// The response has arrived. It is a failure if its status is one (``HTTP/Options/failsForStatus``).
    case whole(HTTP.Response, Data, method: HTTP.Method, fails: Bool)
    /// The head of a success came, and the body goes to a receiver, or is that of an interceptor.
    case opened(HTTP.Response, HTTP.Reply.Body? = nil)
    case noRequest(any Error)
    indirect case failed(HopFailure, HTTP.FetchContext? = nil)
    /// An HTTPInterceptor threw this after it had a request sent: the failure of that request, or an error of its own.
    indirect case thrown(any Error, HTTP.FetchContext? = nil)
    /// An HTTPInterceptor threw this after its request had been answered. Whatever its type is, it is not that request's failure.
    indirect case rejected(any Error, HTTP.FetchContext? = nil)
    case cancelled
    /// The delegate has stored the result.
    case resultStored

    /// Whether making the result runs no user code, so that it may be done on the transport's thread.
    var needsNoUserCode: Bool {
        switch self {
        case .whole(_, _, _, let fails): !fails
        case .opened: true
        default: false
        }
    }

    var isCancelled: Bool { if case .cancelled = self { true } else { false } }

    var isStored: Bool { if case .resultStored = self { true } else { false } }

    /// What was measured until it, if it has that.
    var metrics: HTTP.Metrics? {
        switch self {
        case .whole(let response, _, _, _), .opened(let response, _): response.metrics
        case .failed(_, let context), .thrown(_, let context), .rejected(_, let context): context?.metrics
        case .noRequest, .cancelled, .resultStored: nil
        }
    }

    /// Whether it stands, whatever the interceptors vote.
    var isFinal: Bool {
        switch self {
        case .cancelled, .resultStored: true
        case .failed(let failure, _): failure.isFinal
        case .thrown(let error, _): (error as? any HTTPError)?.isFinal ?? false
        case .whole, .opened, .noRequest, .rejected: false
        }
    }

    /// Whether the fetch may end without a response.
    var mayFail: Bool {
        switch self {
        case .whole, .opened: false
        default: true
        }
    }

    /// Whether the request has failed before any server received it.
    var isUnsent: Bool { if case .failed(let failure, _) = self { failure.isRetryable } else { false } }
}
