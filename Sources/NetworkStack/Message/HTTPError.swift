public import FoundationEssentials

/// What the fetch error of every stack reports, for code that gets `any Error`: a retry rule, an authenticator, a log.
///
///     HTTPRetryPolicy.maxRetries(2).when { error, _, _ in (error as? any HTTPError)?.statusCode == 503 }
///
/// After retries, it describes the last failure, except ``isFinal``, which is true then, and ``isRetryable``, which is false.
public protocol HTTPError: Error {
    /// The status of the response that failed, if there was one.
    var statusCode: HTTP.StatusCode? { get }
    /// Whether a timeout ended the fetch.
    var isTimeout: Bool { get }
    /// Whether the fetch was cancelled.
    var isCancelled: Bool { get }
    /// Whether the failure may be temporary (``Retry/isTransient(_:statuses:)``).
    var isTransient: Bool { get }
    /// The response that failed, if there was one.
    var httpResponse: HTTP.Response? { get }
    /// The body of an unsuccessful response, as far as it was collected.
    var body: Data? { get }
    /// The error of the API that was decoded from the body of an unsuccessful response, if it was.
    var apiError: (any Error)? { get }
    /// The state of the fetch when it failed, for an error whose case has a context or a response.
    var context: HTTP.FetchContext? { get }
    /// Whether the failure is final, regardless of interceptors' votes: a cancel, the total timeout, a server that is not
    /// trusted.
    var isFinal: Bool { get }
    /// Whether the request provably never reached the server.
    var isRetryable: Bool { get }
    /// Whether ``Network/Configuration/serverTrust`` refused the server, as one without a pinned key.
    var isUntrusted: Bool { get }
    /// The kind of a transport's failure, if there is one.
    var transportFailure: HTTP.FailureKind? { get }
    /// The failure in a few words, without URLs, header values and bodies, for any log.
    var summary: String { get }
    /// The name of the failure's case, such as `timedOut`, for a metric's label or a group of logs: one of a fixed set of names.
    var caseName: String { get }
}

extension HTTPError {
    /// Always `false`, for errors of stacks without pins.
    public var isUntrusted: Bool { false }

    /// Always `nil`, for stacks that decode no errors.
    public var apiError: (any Error)? { nil }

    /// The name of the error's type, for errors without names of cases.
    public var caseName: String { "\(type(of: self))" }
}
