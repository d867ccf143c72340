public import FoundationEssentials

/// What every stack's fetch error reports, for code that gets `any Error`: a retry rule, an authenticator, a log.
///
///     HTTPRetryPolicy.maxRetries(2).when { error, _, _ in (error as? any HTTPError)?.statusCode == 503 }
///
/// After retries, it reports the last failure.
public protocol HTTPError: Error {
    /// The status that came with the failure, if one did.
    var statusCode: HTTP.StatusCode? { get }
    /// Whether a clock ended the fetch.
    var isTimeout: Bool { get }
    /// Whether the fetch was cancelled.
    var isCancelled: Bool { get }
    /// Whether the failure may pass by itself (``Retry/isTransient(_:statuses:)``).
    var isTransient: Bool { get }
    /// The response that came with the failure, if one did.
    var httpResponse: HTTP.Response? { get }
    /// The content of an unsuccessful response, as far as it was collected.
    var body: Data? { get }
    /// Where the fetch was when it failed, if it got that far.
    var context: HTTP.FetchContext? { get }
    /// Whether the failure is final, whatever interceptors vote: a cancel, the total timeout, a server that is not trusted.
    var isFinal: Bool { get }
    /// Whether the request provably never reached the server.
    var isRetryable: Bool { get }
    /// What went wrong in the transfer, if the transfer failed and its error knows.
    var transportFailure: HTTP.FailureKind? { get }
    /// What happened, in a few words without URLs, header values or content: fit for any log.
    var summary: String { get }
}
