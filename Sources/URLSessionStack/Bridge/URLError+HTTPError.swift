public import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension URLError {
    /// Makes the `URLError` that code written for URLSession expects of a failure.
    ///
    /// Its `userInfo` has the stack's error (`NSUnderlyingErrorKey`), its sentence (`NSLocalizedDescriptionKey`), and the URL without
    /// user info, query and fragment.
    ///
    /// - Parameter error: The failure of a stack.
    public init(_ error: any HTTPError) {
        var userInfo: [String: Any] = [
            NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: "\(error)",
        ]
        if let url = error.context?.url.flatMap({ URL(string: $0) }) { userInfo[NSURLErrorFailingURLErrorKey] = url }
        self.init(Self.code(of: error), userInfo: userInfo)
    }

    private static func code(of error: any HTTPError) -> Code {
        if error.isCancelled { return .cancelled }
        if error.isTimeout { return .timedOut }
        if let kind = error.transportFailure { return code(of: kind) }
        return switch (error as? any ErasableFetchError)?.erased {
        case .noRequest, .invalidRequest: .badURL
        case .tooManyRedirects: .httpTooManyRedirects
        case .insecureRedirect, .invalidRedirect: .redirectToNonExistentLocation
        case .untrusted: .serverCertificateUntrusted
        case .bodyTooLarge, .decompressionRatio, .headTooLarge, .headLineTooLong, .tooManyFields:
            .dataLengthExceedsMaximum
        case .requestBody, .bodyNotReplayable: .requestBodyStreamExhausted
        case .localFile: .cannotWriteToFile
        case .undecodable, .unknownCoding: .cannotDecodeContentData
        case .badResponse, .http, .noData: .badServerResponse
        case .unsupported: .unsupportedURL
        default: .unknown
        }
    }

    private static func code(of kind: HTTP.FailureKind) -> Code {
        switch kind {
        case .dns: .cannotFindHost
        case .connect, .proxy: .cannotConnectToHost
        case .tls: .secureConnectionFailed
        case .send, .receive, .truncated: .networkConnectionLost
        case .empty: .badServerResponse
        case .malformed: .cannotParseResponse
        case .decoding: .cannotDecodeContentData
        default: .unknown
        }
    }
}

/// Foundation's response from the response of any stack.
extension HTTPURLResponse {
    /// Makes an `HTTPURLResponse` of a response.
    ///
    /// Its header fields are a dictionary, so lines of one name are joined and the order is lost.
    ///
    /// - Parameter response: The response of a stack.
    public convenience init?(_ response: HTTP.Response) {
        self.init(
            url: response.url,
            statusCode: response.status.rawValue,
            httpVersion: response.version.description,
            headerFields: WireRequest.joined(response.headers).fields
        )
    }
}

/// The request of any stack from Foundation's request.
extension HTTP.Request {
    /// Makes a request of a `URLRequest`: its method, URL, header fields and body.
    ///
    /// - Parameter request: The `URLRequest`.
    /// - Throws: ``/NetworkStack/HTTP/InvalidValue`` if it has no URL.
    public init(_ request: URLRequest) throws { self = try request.httpRequest() }
}
