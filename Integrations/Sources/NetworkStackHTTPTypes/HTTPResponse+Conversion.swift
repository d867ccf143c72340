public import FoundationEssentials
public import HTTPTypes
public import NetworkStack

extension HTTPResponse {
    /// Makes a response of swift-http-types, without a reason phrase.
    ///
    /// If the stack decoded the body (`decodedFrom` of the response), `Content-Encoding` and `Content-Length` are left out: they
    /// describe the body before that, and this type cannot express it.
    ///
    /// - Parameter response: The response.
    /// - Throws: ``HTTPTypesConversionError``. It does not occur for a response that a stack returned, unless its status has more
    ///   than three digits.
    public init(_ response: HTTP.Response) throws(HTTPTypesConversionError) {
        guard (0...999).contains(response.status.rawValue) else { throw .invalidStatus(response.status.rawValue) }
        var headers = response.headers
        if !response.decodedFrom.isEmpty { (headers[.contentEncoding], headers[.contentLength]) = (nil, nil) }
        self.init(status: .init(code: response.status.rawValue), headerFields: try HTTPFields(headers))
    }
}

extension HTTP.Response {
    /// Makes a response from one of swift-http-types, such as for a test.
    ///
    /// - Parameters:
    ///   - response: The response. Its reason phrase is lost.
    ///   - url: The URL that was fetched.
    ///   - version: The version of HTTP.
    /// - Throws: ``HTTPTypesConversionError/invalidValue(name:)``.
    public init(_ response: HTTPResponse, url: URL, version: HTTP.Version = .http1_1) throws(HTTPTypesConversionError) {
        self.init(
            status: HTTP.StatusCode(response.status.code),
            version: version,
            headers: try HTTP.Headers(response.headerFields),
            url: url
        )
    }
}
