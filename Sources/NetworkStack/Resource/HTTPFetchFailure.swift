/// What every stack's fetch error tells, for code that is given `any Error`: a retry rule, an authenticator, a log.
///
///     HTTPRetryPolicy.maxRetries(2).when { error, _, _ in (error as? any HTTPFetchFailure)?.statusCode == 503 }
public protocol HTTPFetchFailure: Error {
    /// The status that came with the failure, if one did.
    var statusCode: HTTP.StatusCode? { get }
    /// Whether a clock ended the fetch.
    var isTimeout: Bool { get }
    /// Whether it stands, whatever interceptors vote: a cancel, the total timeout, a server that is not trusted.
    var isFinal: Bool { get }
    /// Whether the request provably never reached the server.
    var isRetryable: Bool { get }
    /// What went wrong in the transfer, if the transfer failed and its error tells.
    var transportFailure: HTTP.FailureKind? { get }
    /// What happened, in a few words without URLs, header values or content: fit for any log.
    var summary: String { get }
}

extension HTTPFetchError: HTTPFetchFailure {
    /// What went wrong in the transfer, if the transfer failed and its error tells. For `retry`, that of the last failure.
    public var transportFailure: HTTP.FailureKind? {
        switch self {
        case .transport(let error): (error as? any HTTPTransportError)?.kind
        case .retry(_, let state): (state.errors.last as? Self)?.transportFailure
        case .unknownCoding: .decoding
        case .noRequest, .http, .noData, .badResponse, .refused, .cancelled: nil
        }
    }

    /// Whether it stands, whatever interceptors vote: a cancel, the total timeout, a server that is not trusted, content that
    /// can be sent only once, options that make no sense, a shutdown, and the end of retrying itself.
    public var isFinal: Bool {
        switch self {
        case .cancelled, .retry: true
        case .refused(let refusal): refusal.isFinal
        case .noRequest, .http, .noData, .badResponse, .unknownCoding, .transport: false
        }
    }

    /// What happened, in a few words without URLs, header values or content: fit for any log.
    public var summary: String {
        switch self {
        case .noRequest(let error): "no request: \(Self.words(for: error))"
        case .http(let status, let error, _): "status \(status)" + (error.map { ", \(type(of: $0))" } ?? "")
        case .noData(let status, _): "no data with status \(status)"
        case .badResponse: "a response that is not HTTP"
        case .unknownCoding: "content in an unknown coding"
        case .transport(let error): Self.words(for: error)
        case .refused(let refusal): Self.words(for: refusal)
        case .cancelled: "cancelled"
        case .retry(let reason, let state):
            "not tried again (\(Self.words(for: reason))) after \(state.errors.count) "
                + (state.errors.count == 1 ? "failure" : "failures")
                + ((state.errors.last as? Self).map { ", the last \($0.summary)" } ?? "")
        }
    }

    private static func words(for reason: Retry.Error) -> String {
        switch reason {
        case .retries(let count): "\(count) retries at most"
        case .delay(let delay): "\(delay) s of delay at most"
        case .custom(let error): words(for: error)
        }
    }

    /// An error from outside may say anything, so only its type is told.
    private static func words(for error: any Error) -> String {
        switch error {
        case .requestBody as HTTP.Refusal: "the request's content could not be read"
        case .interceptor as HTTP.Refusal: "an interceptor would not take the content"
        case .insecureRedirect as HTTP.Refusal: "a redirect leads from https to http"
        case .invalidRedirect as HTTP.Refusal: "a redirect leads to no http or https URL"
        case let refusal as HTTP.Refusal: refusal.description
        case let error as any HTTPTransportError:
            "\(error.kind) failed" + (error.phase.map { " while \($0.rawValue)" } ?? "")
        default: "\(type(of: error))"
        }
    }
}

/// A fetch that failed tells what it tells without decoding. Content that could not be decoded came with a success, and
/// asking again would bring the same.
extension FetchAndDecodeError: HTTPFetchFailure where FetchError: HTTPFetchFailure {
    private var failure: FetchError? {
        switch self {
        case .fetch(let error): error
        case .decode: nil
        }
    }

    /// The status that came with the failure of the fetch, if one did.
    public var statusCode: HTTP.StatusCode? { failure?.statusCode }
    /// Whether a clock ended the fetch.
    public var isTimeout: Bool { failure?.isTimeout ?? false }
    /// Whether the fetch's failure stands, whatever interceptors vote. They are not asked about decoding.
    public var isFinal: Bool { failure?.isFinal ?? true }
    /// Whether the request provably never reached the server.
    public var isRetryable: Bool { failure?.isRetryable ?? false }
    /// What went wrong in the transfer, if the transfer failed and its error tells.
    public var transportFailure: HTTP.FailureKind? { failure?.transportFailure }

    /// What happened, in a few words without URLs, header values or content: fit for any log.
    public var summary: String {
        switch self {
        case .fetch(let error): error.summary
        case .decode(let error): "content that cannot be decoded: \(type(of: error))"
        }
    }
}
