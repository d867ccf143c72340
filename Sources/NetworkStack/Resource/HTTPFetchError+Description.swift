internal import FoundationEssentials

extension HTTPFetchError {
    /// The failure in a few words, without URLs, header values and bodies, for any log.
    public var summary: String {
        switch self {
        case .noRequest(let error): "no request: \(Self.words(for: error))"
        case .http(let status, let error, _): "status \(status)" + (error.map { ", \(type(of: $0))" } ?? "")
        case .noData(let status, _): "no data with status \(status)"
        case .badResponse: "a response that is not HTTP"
        case .unknownCoding: "a body in an unknown coding"
        case .transport(let error, _): Self.words(for: error)
        case .requestBody: "the request's body could not be read"
        case .interceptor: "an interceptor failed"
        case .undecodable(let error, _): "a body that cannot be decoded, \(type(of: error))"
        case .localFile(let error, _): "a file that cannot be written, error \(error.number)"
        case .insecureRedirect: "a redirect leads from https to http"
        case .invalidRedirect: "a redirect leads to no http or https URL"
        case .cancelled: "cancelled"
        case .retry(let reason, let state):
            "gave up after \(state.errors.count) "
                + (state.errors.count == 1 ? "attempt" : "attempts") + " (\(Self.words(for: reason)))"
                + ((state.errors.last as? Self).map { ", the last \($0.summary)" } ?? "")
        default: sentence
        }
    }

    /// Whether the body of the failure ends where a limit cut it.
    private var isBodyCut: Bool { httpResponse?.isErrorBodyCut ?? false }

    fileprivate static func words(for reason: Retry.Error) -> String {
        switch reason {
        case .retries(let count): "\(count) \(count == 1 ? "retry" : "retries") at most"
        case .delay(let delay): "\(delay) s of delay at most"
        case .custom(let error): words(for: error)
        }
    }

    /// The media type of a response, which is often why its body cannot be decoded.
    private static func mediaType(of response: Response) -> String {
        response.httpResponse?.headers.contentType.map { ", \($0.essence)," } ?? ""
    }

    /// The error of an API holds what was decoded from the body, so it is described only if its type has a description.
    private static func words(forAPI error: any Error) -> String {
        (error as? any CustomStringConvertible)?.description ?? "\(type(of: error))."
    }

    /// The text of an error from outside may hold a secret, so only its type is shown.
    private static func words(for error: any Error) -> String {
        switch error {
        case let error as HTTP.InvalidValue: error.reason
        case let error as Network.ConfigurationError: error.description
        case let error as any HTTPTransportError:
            "\(error.kind) failed" + (error.phase.map { " while \($0.rawValue)" } ?? "")
        default: "\(type(of: error))"
        }
    }
}

extension HTTPFetchError: DescribedError {
    /// The failure in a sentence, and the URL without user info, query and fragment. It has no header values. An error of another
    /// library has that library's description.
    public var description: String {
        guard let url = context?.url else { return sentence }
        let end = sentence.last.map { ".!?".contains($0) } ?? true ? "" : "."
        return "\(sentence)\(end) URL: \(url)"
    }

    private var sentence: String {
        switch self {
        case .noRequest(let error): "The request could not be made: \(error)"
        case .http(let status, let error, _):
            "The response has the status \(status)" + (error.map { ": \(Self.words(forAPI: $0))" } ?? ".")
                + (isBodyCut ? " Its body was cut at the limit for bodies of failures." : "")
        case .noData(let status, _):
            "The response with the status \(status) has no body. Set options.allowsEmptyBody if it may have none."
        case .badResponse: "The server sent something that is not an HTTP response."
        case .unknownCoding(let coding, _): "The response's body has the coding \(coding), which cannot be decoded."
        case .transport(let error, _): (error as? any HTTPTransportError)?.failureDescription ?? "\(error)"
        case .retry(let reason, let state):
            "Gave up after \(state.errors.count) "
                + (state.errors.count == 1 ? "attempt" : "attempts") + " (\(Self.words(for: reason))): "
                + ((state.errors.last as? Self)?.sentence ?? state.errors.last.map { "\($0)" } ?? "no failure")
        case .cancelled: "The fetch was cancelled."
        case .invalidRequest(let reason): reason
        case .unsupported(let capability, let reason): "This stack does not support \(capability) here: \(reason)"
        case .timedOut(let timeout, let phase, _):
            "The \(timeout.rawValue) timeout ran out while \(phase.rawValue)."
        case .tooManyRedirects(let limit, _): "The response redirects more than \(limit) times."
        case .insecureRedirect(let url, _): "A redirect leads from https to \(url.redactedDescription), in the clear."
        case .invalidRedirect(let target, _): "A redirect leads to \(target.redactedURL), not to an http or https URL."
        case .bodyTooLarge(let limit, _): "The response's body is longer than the limit of \(limit) bytes."
        case .decompressionRatio(let limit, _):
            "The response's body expands to more than \(limit) times its compressed size."
        case .headTooLarge(let limit, _): "The response's head is longer than the limit of \(limit) bytes."
        case .headLineTooLong(let limit, _):
            "A line of the response's head or trailers is longer than \(limit) bytes, the most that libcurl takes."
        case .tooManyFields(let limit, _): "The response's head has more than the limit of \(limit) field lines."
        case .bodyNotReplayable: "The request's body can be sent only once, and it would have to be sent again."
        case .requestBody(let error, _): "The request's body could not be read: \(error)"
        case .interceptor(let error, _): "An interceptor failed: \(error)"
        case .untrusted(let error, _): error.description
        case .undecodable(let error, let response):
            "The body of the response\(Self.mediaType(of: response)) cannot be decoded: \(error.reasonOfDecoder)"
        case .localFile(let error, _): "The file of the download cannot be written: \(error)"
        case .concurrentRead: "Another task reads this stream; a stream has one reader."
        case .shutDown: "The stack was shut down."
        }
    }
}

extension HTTPFetchError: CustomReflectable {
    /// The failure in a sentence. A dump shows no URL user info or query either.
    public var customMirror: Mirror {
        let parts: [(String?, Any?)] = [("reason", description), ("response", httpResponse), ("context", context)]
        return Mirror(
            self,
            children: parts.compactMap { label, value in value.map { (label, $0) } },
            displayStyle: .enum
        )
    }
}

extension Error {
    /// Where and why decoding failed. A `DecodingError` describes itself in many lines, and may quote the body.
    var reasonOfDecoder: String {
        guard let error = self as? DecodingError else { return "\(self)" }
        func place(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
            let path = (context.codingPath + [last].compactMap { $0 }).map {
                $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)"
            }
            return path.isEmpty ? "the top level" : path.joined()
        }
        return switch error {
        case .keyNotFound(let key, let context): "there is no value at \(place(context, key))."
        case .valueNotFound(let type, let context): "the value at \(place(context)) is null; \(type) was expected."
        case .typeMismatch(let type, let context): "the value at \(place(context)) is no \(type)."
        case .dataCorrupted(let context): "the value at \(place(context)) is not valid."
        @unknown default: "\(type(of: error))"
        }
    }
}
