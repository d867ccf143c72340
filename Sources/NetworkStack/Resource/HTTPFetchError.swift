public import FoundationEssentials

// Indirect, because a `Result` is as large as its largest case.

/// The error of every fetch on an HTTP stack.
///
/// Cases of failures on the wire end with the state of the fetch. ``context`` has it for these and for the cases with a response.
/// Code that gets `any Error` uses ``HTTPError``.
@nonexhaustive
public indirect enum HTTPFetchError<Response: HTTPResponseConvertible, TransportError: Error>: ByteStreamFailure {
    /// The request could not be made: an endpoint, an encoder, an authenticator or an interceptor failed.
    case noRequest(any Error)
    /// The request or its options are illegal. Nothing was sent, and it is not retried. The text describes what to change.
    case invalidRequest(String)
    /// The stack does not support this here, for this reason. Nothing was sent.
    case unsupported(HTTP.Capability, reason: String)
    /// The status is a failure: not 2xx, unless ``HTTP/Options/failsForStatus`` decides otherwise. The error is the API's, if it
    /// was decoded.
    case http(HTTP.StatusCode, (any Error)?, Response)
    /// A success has no body, and the call needs one.
    case noData(HTTP.StatusCode, Response)
    /// The server sent something that is not an HTTP response.
    case badResponse(Response?)
    /// The body has a coding of this name, which the stack cannot decode, and ``HTTP/Options/passesUnknownCodings`` is off. No part
    /// of the body was delivered.
    case unknownCoding(String, Response)
    /// The transfer failed.
    case transport(TransportError, HTTP.FetchContext = .init())
    /// A timeout ran out, in this phase.
    case timedOut(HTTP.Timeout, during: HTTP.Phase, HTTP.FetchContext = .init())
    /// The server is not trusted (``Network/Configuration/serverTrust``). No part of the request was sent.
    case untrusted(ServerTrustError, HTTP.FetchContext = .init())
    /// More redirects than ``HTTP/Options/Redirects/limit``, as in a redirect loop.
    case tooManyRedirects(limit: Int, HTTP.FetchContext = .init())
    /// A redirect leads from https to http. RFC 9110 section 15.4 leaves the decision to the client; this one refuses.
    case insecureRedirect(URL, HTTP.FetchContext = .init())
    /// A redirect does not lead to an http or https URL, contains what a request's URL may not contain (control characters, a
    /// backslash before the query, more than 65,536 bytes), or has several targets.
    case invalidRedirect(String, HTTP.FetchContext = .init())
    /// The response's body is longer than ``HTTP/Options/Limits/body``, in bytes.
    case bodyTooLarge(limit: Int64, HTTP.FetchContext = .init())
    /// The response's body grows by more than ``HTTP/Options/Limits/decompressionRatio`` when it is decompressed; or, on CurlStack,
    /// a piece of 16 KiB by more than 4096 times, regardless of the option.
    case decompressionRatio(limit: Int, HTTP.FetchContext = .init())
    /// The response's head is longer than ``HTTP/Options/Limits/head``, in bytes, or than the limit of the library below the stack,
    /// if that is lower.
    case headTooLarge(limit: Int, HTTP.FetchContext = .init())
    /// One line of the response's head or trailers is longer than the limit of the library below the stack, in bytes, regardless of
    /// ``HTTP/Options/Limits/head``.
    case headLineTooLong(limit: Int, HTTP.FetchContext = .init())
    /// The response's head has more field lines than ``HTTP/Options/Limits/headFields``, or than the limit of the library below the
    /// stack, if that is lower.
    case tooManyFields(limit: Int, HTTP.FetchContext = .init())
    /// The request's body was sent once and cannot be sent again.
    case bodyNotReplayable(HTTP.FetchContext = .init())
    /// The request's body could not be read, or does not have its declared length.
    case requestBody(any Error, HTTP.FetchContext = .init())
    /// An interceptor rejected the response's body; or an ``HTTPInterceptor`` threw an error after it had called `next`, and not the
    /// failure of its request.
    case interceptor(any Error, HTTP.FetchContext = .init())
    /// The body of a success could not be decoded: the decoder's error, and the response. Short calls and streams fail with it.
    case undecodable(any Error, Response)
    /// The file of a download could not be written.
    case localFile(FileError, HTTP.FetchContext = .init())
    /// Two tasks read one ``ByteStream``, or its lines or events, at the same time. The second read fails with this; the first
    /// continues.
    case concurrentRead
    /// The fetch failed, and a retry policy ended its retries.
    case retry(Retry.Error, Retry.State)
    /// The stack was shut down.
    case shutDown
    /// The fetch was cancelled.
    case cancelled
}

extension HTTPFetchError {
    /// The error of ``ByteStream/collect(upTo:)`` if there are more bytes than its limit: ``bodyTooLarge(limit:_:)``.
    ///
    /// - Parameter limit: The limit, in bytes.
    /// - Returns: The error.
    public static func longerThan(limit: Int64) -> Self { .bodyTooLarge(limit: limit) }

    /// The same error as the fetch keeps it for its next attempts (``Retry/State/errors``): without the body of its response, and
    /// without earlier requests in its metrics, which the fetch itself has.
    ///
    /// - Parameter answer: The stack's response.
    /// - Returns: The error.
    func abridged(_ answer: (HTTP.Response) -> Response) -> Self {
        mapped(
            { response in
                guard var neutral = response.httpResponse else { return response }
                (neutral.errorBody, neutral.metrics.hops) = (nil, [])
                return answer(neutral)
            },
            { $0 },
            { context in
                var context = context
                context.metrics.hops = []
                return context
            }
        )
    }

    /// The same error in neutral terms.
    package var erased: HTTPFetchError<HTTP.Response, any Error> { mapped({ $0.httpResponse }, { $0 }) }

    /// The same error with other types.
    ///
    /// - Parameters:
    ///   - answer: The other response. Without it, the error is ``badResponse(_:)``.
    ///   - failure: The transport's other error. Without it, the error is ``interceptor(_:_:)``.
    ///   - adapted: The other context.
    /// - Returns: The error.
    func mapped<R, E>(
        _ answer: (Response) -> R?,
        _ failure: (TransportError) -> E?,
        _ adapted: (HTTP.FetchContext) -> HTTP.FetchContext = { $0 }
    ) -> HTTPFetchError<R, E> {
        func with(_ response: Response, _ make: (R) -> HTTPFetchError<R, E>) -> HTTPFetchError<R, E> {
            answer(response).map(make) ?? .badResponse(nil)
        }
        // The status, context and body of a retry error are those of its last failure, which is converted, too.
        func converted(_ state: Retry.State) -> Retry.State {
            var state = state
            state.errors = state.errors.map { ($0 as? Self)?.mapped(answer, failure, adapted) ?? $0 }
            return state
        }
        return switch self {
        case .noRequest(let error): .noRequest(error)
        case .invalidRequest(let reason): .invalidRequest(reason)
        case .unsupported(let capability, let reason): .unsupported(capability, reason: reason)
        case .http(let status, let error, let response): with(response) { .http(status, error, $0) }
        case .noData(let status, let response): with(response) { .noData(status, $0) }
        case .badResponse(let response): .badResponse(response.flatMap(answer))
        case .unknownCoding(let coding, let response): with(response) { .unknownCoding(coding, $0) }
        case .transport(let error, let context):
            failure(error).map { .transport($0, adapted(context)) } ?? .interceptor(error, adapted(context))
        case .timedOut(let timeout, let phase, let context): .timedOut(timeout, during: phase, adapted(context))
        case .untrusted(let error, let context): .untrusted(error, adapted(context))
        case .tooManyRedirects(let limit, let context): .tooManyRedirects(limit: limit, adapted(context))
        case .insecureRedirect(let url, let context): .insecureRedirect(url, adapted(context))
        case .invalidRedirect(let target, let context): .invalidRedirect(target, adapted(context))
        case .bodyTooLarge(let limit, let context): .bodyTooLarge(limit: limit, adapted(context))
        case .decompressionRatio(let limit, let context): .decompressionRatio(limit: limit, adapted(context))
        case .headTooLarge(let limit, let context): .headTooLarge(limit: limit, adapted(context))
        case .headLineTooLong(let limit, let context): .headLineTooLong(limit: limit, adapted(context))
        case .tooManyFields(let limit, let context): .tooManyFields(limit: limit, adapted(context))
        case .bodyNotReplayable(let context): .bodyNotReplayable(adapted(context))
        case .requestBody(let error, let context): .requestBody(error, adapted(context))
        case .interceptor(let error, let context): .interceptor(error, adapted(context))
        case .undecodable(let error, let response): with(response) { .undecodable(error, $0) }
        case .localFile(let error, let context): .localFile(error, adapted(context))
        case .concurrentRead: .concurrentRead
        case .retry(let error, let state): .retry(error, converted(state))
        case .shutDown: .shutDown
        case .cancelled: .cancelled
        }
    }
}

extension HTTPFetchError<HTTP.Response, any Error> {
    /// The same error with the types of a stack.
    ///
    /// - Parameters:
    ///   - answer: The stack's response.
    ///   - context: The state of the fetch, in place of the error's.
    /// - Returns: The error.
    package func typed<R, E>(
        _ answer: (HTTP.Response) -> R,
        in context: HTTP.FetchContext? = nil
    ) -> HTTPFetchError<R, E> {
        mapped(answer, { $0 as? E }, { context ?? $0 })
    }
}

/// A fetch error that can be converted to neutral types, whatever its stack.
package protocol ErasableFetchError: Error {
    /// The same error in neutral terms.
    var erased: HTTPFetchError<HTTP.Response, any Error> { get }
}

extension HTTPFetchError: ErasableFetchError {}
