public import FoundationEssentials

/// A fetch error that has a case for a cancel.
///
/// With such an error, the fetches of ``NetworkStack`` that decode or call back on a queue honour a cancel until the completion
/// runs, also while the body is decoded or the completion is queued. A task that only awaits a fetch gets the result of the fetch.
public protocol CancellableFetchError: Error {
    /// The fetch was cancelled.
    static var cancelled: Self { get }
}

/// Why a fetch-and-decode failed.
public enum FetchAndDecodeError<FetchError: Error>: Error {
    /// The fetch failed.
    case fetch(FetchError)
    /// The fetch succeeded, and its body could not be decoded.
    case decode(any Error)
}

extension FetchAndDecodeError: DescribedError {
    /// The failure in a sentence: the description of the fetch's error; or where and why decoding failed, without the body.
    public var description: String {
        switch self {
        case .fetch(let error): "\(error)"
        case .decode(let error): "The body of the response cannot be decoded: \(error.reasonOfDecoder)"
        }
    }
}

/// A failed fetch has the same properties as without decoding. A body that could not be decoded belongs to a success, and a retry
/// would return the same body.
extension FetchAndDecodeError: HTTPError where FetchError: HTTPError {
    private var failure: FetchError? {
        switch self {
        case .fetch(let error): error
        case .decode: nil
        }
    }

    /// The status of the response that failed, if there was one.
    public var statusCode: HTTP.StatusCode? { failure?.statusCode }
    /// Whether a timeout ended the fetch.
    public var isTimeout: Bool { failure?.isTimeout ?? false }
    /// Whether the fetch was cancelled.
    public var isCancelled: Bool { failure?.isCancelled ?? false }
    /// The response that failed, if there was one.
    public var httpResponse: HTTP.Response? { failure?.httpResponse }
    /// The body of an unsuccessful response, as far as it was collected.
    public var body: Data? { failure?.body }
    /// The error of the API that was decoded from the body of an unsuccessful response, if it was.
    public var apiError: (any Error)? { failure?.apiError }
    /// The state of the fetch when it failed.
    public var context: HTTP.FetchContext? { failure?.context }
    /// Whether the fetch's failure is final, regardless of interceptors' votes. They do not vote on decoding.
    public var isFinal: Bool { failure?.isFinal ?? true }
    /// Whether the request provably never reached the server.
    public var isRetryable: Bool { failure?.isRetryable ?? false }
    /// Whether ``Network/Configuration/serverTrust`` refused the server.
    public var isUntrusted: Bool { failure?.isUntrusted ?? false }
    /// The kind of a transport's failure, if there is one.
    public var transportFailure: HTTP.FailureKind? { failure?.transportFailure }

    /// The name of the fetch's case; `undecodable` for a body that could not be decoded.
    public var caseName: String { failure?.caseName ?? "undecodable" }

    /// The failure in a few words, without URLs, header values and bodies, for any log.
    public var summary: String {
        switch self {
        case .fetch(let error): error.summary
        case .decode(let error): "a body that cannot be decoded: \(type(of: error))"
        }
    }
}
