public import FoundationEssentials

/// A fetch error that has a case for a cancel.
///
/// With such an error, the fetches of ``NetworkStack`` that decode or call back on a queue honour a cancel until the completion
/// runs: also one that comes while the body is decoded, or while the completion waits for its queue. A task that only awaits a
/// fetch gets the result of the fetch.
public protocol CancellableFetchError: Error {
    /// The fetch was cancelled.
    static var cancelled: Self { get }
}

/// Why a fetch-and-decode failed.
public enum FetchAndDecodeError<FetchError: Error>: Error {
    /// The fetch failed.
    case fetch(FetchError)
    /// The fetch succeeded and its payload could not be decoded.
    case decode(any Error)
}

extension FetchAndDecodeError: DescribedError {
    /// What happened, in a sentence: that of the fetch's error or of the decoder's.
    public var description: String {
        switch self {
        case .fetch(let error): "\(error)"
        case .decode(let error): "The body of the response cannot be decoded: \(error)"
        }
    }
}

/// A failed fetch reports the same as without decoding. A body that could not be decoded came with a success, and another fetch
/// would bring the same body.
extension FetchAndDecodeError: HTTPError where FetchError: HTTPError {
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
    /// Whether the fetch was cancelled.
    public var isCancelled: Bool { failure?.isCancelled ?? false }
    /// The response that came with the failure of the fetch, if one did.
    public var httpResponse: HTTP.Response? { failure?.httpResponse }
    /// The content of an unsuccessful response, as far as it was collected.
    public var body: Data? { failure?.body }
    /// Where the fetch was when it failed.
    public var context: HTTP.FetchContext? { failure?.context }
    /// Whether the fetch's failure is final, whatever interceptors vote. They do not vote on decoding.
    public var isFinal: Bool { failure?.isFinal ?? true }
    /// Whether the request provably never reached the server.
    public var isRetryable: Bool { failure?.isRetryable ?? false }
    /// What went wrong in the transfer, if the transfer failed and its error knows.
    public var transportFailure: HTTP.FailureKind? { failure?.transportFailure }

    /// What happened, in a few words without URLs, header values or content: fit for any log.
    public var summary: String {
        switch self {
        case .fetch(let error): error.summary
        case .decode(let error): "content that cannot be decoded: \(type(of: error))"
        }
    }
}
