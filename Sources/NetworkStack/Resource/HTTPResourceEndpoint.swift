public import FoundationEssentials

/// An API's endpoint: what its requests are made of. An enum with a case per endpoint reads best.
public protocol HTTPResourceEndpoint: Sendable {
    /// The method.
    var method: HTTP.Method { get }
    /// The URL the path is joined to. Its query, if any, comes before the endpoint's.
    var baseURL: URL { get }
    /// The path as decoded text, joined with exactly one `/`; `nil` adds nothing. What a path may not hold is escaped.
    ///
    /// A name in braces, as in `/customers/{id}/orders`, is a place for one of the ``pathParameters``.
    var path: String? { get }
    /// What the places in the path are filled with. Everything in a value that would mean something in a path is escaped, so
    /// it stays within its segment. A place without a value, a value without a place, an empty value, and one that makes a
    /// segment of dots alone are refused.
    var pathParameters: [String: String] { get }
    /// The query's items, in order, repeated names kept; `nil` and `[]` add nothing.
    var queryItems: [URLQueryItem]? { get }
    /// The header fields.
    var headers: HTTP.Headers? { get }

    /// Makes the content and says what it is, such as JSON or a form; with `nil`, ``makeBody()`` is asked.
    ///
    /// The media type becomes the request's `Content-Type`, unless ``headers`` has one.
    ///
    /// - Returns: The content, or `nil`.
    /// - Throws: Whatever making it throws; the fetch then ends with `noRequest`.
    func makeContent() throws -> HTTP.Content?

    /// Makes the content. Whatever it is, ``headers`` say it.
    ///
    /// - Returns: The content.
    /// - Throws: Whatever making it throws; the fetch then ends with `noRequest`.
    func makeBody() throws -> HTTP.Body

    /// Makes the request.
    ///
    /// - Returns: The request.
    /// - Throws: ``HTTP/InvalidValue`` if no URL comes of the parts, or what ``makeContent()`` or
    ///   ``makeBody()`` throws.
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

    /// None: ``makeBody()`` is asked.
    public func makeContent() throws -> HTTP.Content? { nil }

    /// No content.
    public func makeBody() throws -> HTTP.Body { .none }

    /// Joins the parts.
    ///
    /// - Throws: ``HTTP/InvalidValue`` if no URL comes of the parts, or what ``makeContent()`` or
    ///   ``makeBody()`` throws.
    public func makeRequest() throws -> HTTP.Request { try makeRequest(at: baseURL) }

    /// Joins the parts to a base URL.
    func makeRequest(at baseURL: URL) throws -> HTTP.Request {
        let url = try EndpointURL.join(
            baseURL,
            path: path,
            parameters: pathParameters,
            queryItems: queryItems ?? []
        )
        if let content = try makeContent() {
            return try HTTP.Request(method: method, url: url, headers: headers ?? [:], content: content)
        }
        return HTTP.Request(method: method, url: url, headers: headers ?? [:], body: try makeBody())
    }
}
