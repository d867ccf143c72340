public import FoundationEssentials

/// Why a hop failed, as a transport reports it to its ``HTTPTransferSink`` or the engine detects it.
///
/// A fetch ends with the case of ``HTTPFetchError`` of the same name.
@nonexhaustive
public indirect enum HTTPTransferFailure<Failure: Error>: Error {
    /// The transport failed.
    case transport(Failure)
    /// The request or its options are invalid; nothing was sent. The text describes what to change.
    case invalidRequest(String)
    /// The transport cannot do what the request or its options ask for; nothing was sent.
    case unsupported(HTTP.Capability, reason: String)
    /// A timeout was exceeded, in this phase.
    case timedOut(HTTP.Timeout, during: HTTP.Phase)
    /// The response redirects more often than ``HTTP/Options/Redirects/limit``.
    case tooManyRedirects(limit: Int)
    /// A redirect leads from https to http.
    case insecureRedirect(URL)
    /// A redirect's target is no http or https URL. The text is the target.
    case invalidRedirect(String)
    /// The response's body is longer than this, in bytes.
    case bodyTooLarge(limit: Int64)
    /// A byte of a compressed body expands to more bytes than this.
    case decompressionRatio(limit: Int)
    /// The response's head is longer than this, in bytes.
    case headTooLarge(limit: Int)
    /// A line of the response's head is longer than the transport's library accepts, in bytes.
    case headLineTooLong(limit: Int)
    /// The response's head has more field lines than this.
    case tooManyFields(limit: Int)
    /// The request's body was sent once and cannot be sent again.
    case bodyNotReplayable
    /// The request's body could not be read, or does not have its declared length.
    case requestBody(any Error)
    /// The server is not trusted.
    case untrusted(ServerTrustError)
    /// The server's answer is not an HTTP response.
    case badResponse
    /// The body has a coding of this name, which the transport cannot decode, and ``HTTP/Options/passesUnknownCodings`` is off.
    case unknownCoding(String, HTTP.Response)
    /// The stack was shut down.
    case shutDown
}

extension HTTPTransferFailure {
    /// Converts the error that a transport throws before it sends anything.
    ///
    /// - Parameter error: The option or capability that it cannot follow.
    public init(_ error: Network.ConfigurationError) {
        switch error {
        case .invalid(let reason): self = .invalidRequest(reason)
        case .unsupported(let capability, let reason): self = .unsupported(capability, reason: reason)
        case .untrusted(let error): self = .untrusted(error)
        }
    }

    /// Converts an invalid value in a request or its options.
    ///
    /// - Parameter error: The error of the value.
    public init(_ error: HTTP.InvalidValue) { self = .invalidRequest(error.reason) }

    /// The error of a fetch that ends with it, without the fetch's context.
    package var fetchError: HTTPFetchError<HTTP.Response, any Error> {
        switch self {
        case .transport(let error): .transport(error)
        case .invalidRequest(let reason): .invalidRequest(reason)
        case .unsupported(let capability, let reason): .unsupported(capability, reason: reason)
        case .timedOut(let timeout, let phase): .timedOut(timeout, during: phase)
        case .tooManyRedirects(let limit): .tooManyRedirects(limit: limit)
        case .insecureRedirect(let url): .insecureRedirect(url)
        case .invalidRedirect(let target): .invalidRedirect(target)
        case .bodyTooLarge(let limit): .bodyTooLarge(limit: limit)
        case .decompressionRatio(let limit): .decompressionRatio(limit: limit)
        case .headTooLarge(let limit): .headTooLarge(limit: limit)
        case .headLineTooLong(let limit): .headLineTooLong(limit: limit)
        case .tooManyFields(let limit): .tooManyFields(limit: limit)
        case .bodyNotReplayable: .bodyNotReplayable()
        case .requestBody(let error): .requestBody(error)
        case .untrusted(let error): .untrusted(error)
        case .badResponse: .badResponse(nil)
        case .unknownCoding(let coding, let response): .unknownCoding(coding, response)
        case .shutDown: .shutDown
        }
    }
}

extension HTTPTransferFailure: DescribedError, CustomReflectable {
    /// The sentence of the fetch's error.
    public var description: String { fetchError.description }

    /// The sentence of the fetch's error, so that a dump shows no user info or query of a URL.
    public var customMirror: Mirror { Mirror(self, children: ["reason": description], displayStyle: .enum) }
}

extension HTTP.Options.Limits {
    /// The failure for a line that is longer than libcurl accepts, in bytes (`CURL_MAX_HTTP_HEADER` for a line of a head).
    package func failureOfLongLine<Failure>(beyond longest: Int = 100 * 1024) -> HTTPTransferFailure<Failure> {
        head <= longest ? .headTooLarge(limit: head) : .headLineTooLong(limit: longest)
    }
}
