public import FoundationEssentials

/// An endpoint of an API: the parts of its requests. Usually an enum with a case per endpoint.
public protocol HTTPResourceEndpoint: Sendable {
    /// The method.
    var method: HTTP.Method { get }
    /// The URL to which the path is joined. Its query, if any, comes before the endpoint's.
    var baseURL: URL { get }
    /// The path as decoded text, joined with exactly one `/`; `nil` adds nothing. Illegal characters are escaped.
    ///
    /// A name in braces, as in `/customers/{id}/orders`, is replaced by one of the ``pathParameters``.
    var path: String? { get }
    /// The values of the path's parameters. Each is escaped so that it stays within its segment. A name without a value, a value
    /// without a name, an empty value, and a segment of dots only are refused.
    var pathParameters: [String: String] { get }
    /// The query's items, in order, with repeated names; `nil` and `[]` add nothing.
    var queryItems: [URLQueryItem]? { get }
    /// The header fields.
    var headers: HTTP.Headers? { get }

    /// Makes the body and its media type, such as JSON or a form. If it returns `nil`, ``makeBody()`` is called.
    ///
    /// The media type becomes the request's `Content-Type`, unless ``headers`` has one.
    ///
    /// - Returns: The body and its media type, or `nil`.
    /// - Throws: Any error; the fetch then ends with `noRequest`.
    func makeContent() throws -> HTTP.Content?

    /// Makes the body. Its `Content-Type` is in ``headers``.
    ///
    /// - Returns: The body.
    /// - Throws: Any error; the fetch then ends with `noRequest`.
    func makeBody() throws -> HTTP.Body

    /// Makes the request.
    ///
    /// - Returns: The request.
    /// - Throws: ``HTTP/InvalidValue`` if the parts make no URL; the errors of ``makeContent()`` and ``makeBody()``.
    func makeRequest() throws -> HTTP.Request
}

extension HTTPResourceEndpoint {
    /// No path beyond the base URL's.
    public var path: String? { nil }
    /// No query beyond the base URL's.
    public var queryItems: [URLQueryItem]? { nil }
    /// No header fields.
    public var headers: HTTP.Headers? { nil }

    /// No parameters.
    public var pathParameters: [String: String] { [:] }

    /// `nil`: ``makeBody()`` is called.
    public func makeContent() throws -> HTTP.Content? { nil }

    /// No body.
    public func makeBody() throws -> HTTP.Body { .none }

    /// Joins the parts.
    ///
    /// - Throws: ``HTTP/InvalidValue`` if the parts make no URL; the errors of ``makeContent()`` and ``makeBody()``.
    public func makeRequest() throws -> HTTP.Request { try makeRequest(at: baseURL) }

    /// Joins the parts to a base URL.
    func makeRequest(at baseURL: URL) throws -> HTTP.Request {
        let url = try EndpointURL.join(baseURL, path: path, parameters: pathParameters, queryItems: queryItems ?? [])
        if let content = try makeContent() {
            return try HTTP.Request(method: method, url: url, headers: headers ?? [:], content: content)
        }
        return HTTP.Request(method: method, url: url, headers: headers ?? [:], body: try makeBody())
    }
}
