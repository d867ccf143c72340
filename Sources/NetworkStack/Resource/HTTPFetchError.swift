public import FoundationEssentials

// Indirect, as a result that is handed on has room for its larger side.

/// Every way a fetch on an HTTP stack can fail.
///
/// Cases that depend on what happened on the wire end with where the fetch was; ``context`` answers that for every case.
/// Code that is given `any Error` asks ``HTTPError``.
@nonexhaustive
public indirect enum HTTPFetchError<Response: HTTPResponseConvertible, TransportError: Error>: ByteStreamFailure {
    /// The request could not be made: its maker, an encoder, an authenticator or an interceptor failed.
    case noRequest(any Error)
    /// The request or its options cannot be sent as they are; nothing was sent, and it is not tried again. The text says what
    /// to change.
    case invalidRequest(String)
    /// The stack cannot do what was asked, here, for this reason; nothing was sent.
    case unsupported(HTTP.Capability, reason: String)
    /// The status is not 2xx. The error is the API's own, if its decoding found one.
    case http(HTTP.StatusCode, (any Error)?, Response)
    /// A success came without content where content was needed.
    case noData(HTTP.StatusCode, Response)
    /// What came is no HTTP response.
    case badResponse(Response?)
    /// The content has a coding that the stack cannot undo, of this name, and ``HTTP/Options/passesUnknownCodings`` is off. Nothing
    /// of the content was delivered.
    case unknownCoding(String, Response)
    /// The transfer failed.
    case transport(TransportError, HTTP.FetchContext = .init())
    /// A clock ran out, in a phase.
    case timedOut(HTTP.Timeout, during: HTTP.Phase, HTTP.FetchContext = .init())
    /// The server is not trusted with the request (``Network/Configuration/serverTrust``); none of it was sent.
    case untrusted(ServerTrustError, HTTP.FetchContext = .init())
    /// More redirects than ``HTTP/Options/Redirects/limit``; redirects that go round in a circle end so.
    case tooManyRedirects(limit: Int, HTTP.FetchContext = .init())
    /// A redirect leads from https to http (RFC 9110 section 15.4 leaves it to the client; this one refuses).
    case insecureRedirect(URL, HTTP.FetchContext = .init())
    /// A redirect leads to what is no http or https URL, to a text that a request's URL may not have either (control characters,
    /// a backslash before the query, more than 65,536 bytes), or to several places at once.
    case invalidRedirect(String, HTTP.FetchContext = .init())
    /// The response's content is longer than ``HTTP/Options/Limits/body``, in bytes.
    case bodyTooLarge(limit: Int64, HTTP.FetchContext = .init())
    /// The response's content grows by more than ``HTTP/Options/Limits/decompressionRatio`` when it is decompressed; or, on
    /// CurlStack, a piece of 16 KiB by more than 4096 times, whatever the option is.
    case decompressionRatio(limit: Int, HTTP.FetchContext = .init())
    /// The response's head is longer than ``HTTP/Options/Limits/head``, in bytes, or than the library below the stack takes,
    /// if that is less.
    case headTooLarge(limit: Int, HTTP.FetchContext = .init())
    /// One line of the response's head is longer than the library below the stack takes, in bytes, whatever
    /// ``HTTP/Options/Limits/head`` is.
    case headLineTooLong(limit: Int, HTTP.FetchContext = .init())
    /// The response's head has more field lines than ``HTTP/Options/Limits/headFields``, or than the library below the stack
    /// takes, if that is less.
    case tooManyFields(limit: Int, HTTP.FetchContext = .init())
    /// The request's content was sent once and cannot be sent again.
    case bodyNotReplayable(HTTP.FetchContext = .init())
    /// The request's content could not be read, or is not as long as was declared.
    case requestBody(any Error, HTTP.FetchContext = .init())
    /// An interceptor rejected the response's content.
    case interceptor(any Error)
    /// The body of a success could not be decoded: what the decoder threw, and the response. Short calls and streams fail with it.
    case undecodable(any Error, Response)
    /// The file of a download could not be written.
    case localFile(FileError, HTTP.FetchContext = .init())
    /// Two tasks read one ``ByteStream`` at a time. This ends the second read; the first continues.
    case concurrentRead
    /// The fetch was not tried again, after it had failed.
    case retry(Retry.Error, Retry.State)
    /// The stack was shut down.
    case shutDown
    /// The fetch was cancelled.
    case cancelled
}

extension HTTPFetchError {
    /// What ``ByteStream/collect(upTo:)`` throws when there are more bytes than its limit: ``bodyTooLarge(limit:_:)``.
    ///
    /// - Parameter limit: The limit, in bytes.
    /// - Returns: The error.
    public static func longerThan(limit: Int64) -> Self { .bodyTooLarge(limit: limit) }

    /// The same error in neutral terms.
    package var erased: HTTPFetchError<HTTP.Response, any Error> {
        switch self {
        case .noRequest(let error): .noRequest(error)
        case .invalidRequest(let reason): .invalidRequest(reason)
        case .unsupported(let capability, let reason): .unsupported(capability, reason: reason)
        case .http(let status, let error, let response):
            response.httpResponse.map { .http(status, error, $0) } ?? .badResponse(nil)
        case .noData(let status, let response):
            response.httpResponse.map { .noData(status, $0) } ?? .badResponse(nil)
        case .badResponse(let response): .badResponse(response?.httpResponse)
        case .unknownCoding(let coding, let response):
            response.httpResponse.map { .unknownCoding(coding, $0) } ?? .badResponse(nil)
        case .transport(let error, let context): .transport(error, context)
        case .timedOut(let timeout, let phase, let context): .timedOut(timeout, during: phase, context)
        case .untrusted(let error, let context): .untrusted(error, context)
        case .tooManyRedirects(let limit, let context): .tooManyRedirects(limit: limit, context)
        case .insecureRedirect(let url, let context): .insecureRedirect(url, context)
        case .invalidRedirect(let target, let context): .invalidRedirect(target, context)
        case .bodyTooLarge(let limit, let context): .bodyTooLarge(limit: limit, context)
        case .decompressionRatio(let limit, let context): .decompressionRatio(limit: limit, context)
        case .headTooLarge(let limit, let context): .headTooLarge(limit: limit, context)
        case .headLineTooLong(let limit, let context): .headLineTooLong(limit: limit, context)
        case .tooManyFields(let limit, let context): .tooManyFields(limit: limit, context)
        case .bodyNotReplayable(let context): .bodyNotReplayable(context)
        case .requestBody(let error, let context): .requestBody(error, context)
        case .interceptor(let error): .interceptor(error)
        case .undecodable(let error, let response):
            response.httpResponse.map { .undecodable(error, $0) } ?? .badResponse(nil)
        case .localFile(let error, let context): .localFile(error, context)
        case .concurrentRead: .concurrentRead
        case .retry(let error, let state): .retry(error, state.erased)
        case .shutDown: .shutDown
        case .cancelled: .cancelled
        }
    }
}

/// A fetch error that can be converted to neutral types, whatever its stack.
package protocol ErasableFetchError: Error {
    /// The same error in neutral terms.
    var erased: HTTPFetchError<HTTP.Response, any Error> { get }
}

extension HTTPFetchError: ErasableFetchError {}

extension Retry.State {
    /// The same state with its errors in neutral terms, so that what is asked of the last one can be answered.
    fileprivate var erased: Retry.State {
        var state = self
        state.errors = errors.map { ($0 as? any ErasableFetchError)?.erased ?? $0 }
        return state
    }
}
