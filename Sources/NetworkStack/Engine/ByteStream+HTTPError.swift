public import FoundationEssentials

/// A stream that failed answers as the fetch that brought it, so that a caller can decide whether to begin again. Any other
/// cause, such as a file that could not be written, is final.
extension ByteStream.Failed: HTTPError {
    private var failure: (any HTTPError)? { underlying as? any HTTPError }

    /// The status that came with the failure: none, as the content's own was a success.
    public var statusCode: HTTP.StatusCode? { nil }
    /// Whether a clock ended the fetch.
    public var isTimeout: Bool { failure?.isTimeout ?? false }
    /// Whether the fetch was cancelled.
    public var isCancelled: Bool { failure?.isCancelled ?? false }
    /// The response that came with the failure: none, as the content's own was a success.
    public var httpResponse: HTTP.Response? { nil }
    /// The content of an unsuccessful response: none.
    public var body: Data? { nil }
    /// Where the fetch was when it failed.
    public var context: HTTP.FetchContext? { failure?.context }
    /// Whether it stands: a cancel, the total timeout, a shutdown, and whatever was no failure of the fetch.
    public var isFinal: Bool { failure.map(\.isFinal) ?? true }
    /// Not: the server has answered the request.
    public var isRetryable: Bool { false }
    /// What went wrong in the transfer, if the transfer failed and its error knows.
    public var transportFailure: HTTP.FailureKind? { failure?.transportFailure }
    /// What happened, in a few words without URLs, header values or content: fit for any log.
    public var summary: String { "content that did not come whole: \(failure?.summary ?? "\(type(of: underlying))")" }
}
