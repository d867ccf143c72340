public import FoundationEssentials

extension HTTP {
    /// One endpoint as a value, for requests that need no separate type.
    ///
    /// With a base URL and a path it is relative; with only an absolute URL it is static:
    ///
    ///     let orders = try HTTP.Endpoint(
    ///         host: "api.example.com", path: "/customers/{id}/orders", pathParameters: ["id": "7"]
    ///     )
    ///     let status = HTTP.Endpoint(baseURL: statusURL)
    public struct Endpoint: HTTPResourceEndpoint {
        /// The method.
        public var method: Method
        /// The URL to which the path is joined.
        public var baseURL: URL
        /// The path as decoded text, with names of parameters in braces.
        public var path: String?
        /// The values of the path's parameters.
        public var pathParameters: [String: String]
        /// The query's items, after those of the base URL.
        public var queryItems: [URLQueryItem]?
        /// The header fields.
        public var headers: Headers?
        /// The body and its media type.
        public var content: Content?

        /// Makes an endpoint below a base URL, or at it.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - baseURL: The URL to which the path is joined.
        ///   - path: The path as decoded text, with names of parameters in braces.
        ///   - pathParameters: The values of the path's parameters.
        ///   - queryItems: The query's items, after those of the base URL.
        ///   - headers: The header fields.
        ///   - content: The body and its media type.
        public init(
            method: Method = .GET,
            baseURL: URL,
            path: String? = nil,
            pathParameters: [String: String] = [:],
            queryItems: [URLQueryItem] = [],
            headers: Headers = [:],
            content: Content? = nil
        ) {
            self.method = method
            self.baseURL = baseURL
            self.path = path
            self.pathParameters = pathParameters
            self.queryItems = queryItems
            self.headers = headers
            self.content = content
        }

        /// Makes an endpoint of a host.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - scheme: The scheme, http or https.
        ///   - host: The server's name or address, optionally with its port.
        ///   - path: The path as decoded text, with names of parameters in braces.
        ///   - pathParameters: The values of the path's parameters.
        ///   - queryItems: The query's items.
        ///   - headers: The header fields.
        ///   - content: The body and its media type.
        /// - Throws: ``HTTP/InvalidValue`` if scheme and host make no URL.
        public init(
            method: Method = .GET,
            scheme: Scheme = .https,
            host: Host,
            path: String? = nil,
            pathParameters: [String: String] = [:],
            queryItems: [URLQueryItem] = [],
            headers: Headers = [:],
            content: Content? = nil
        ) throws(HTTP.InvalidValue) {
            self.init(
                method: method,
                baseURL: try host.url(scheme),
                path: path,
                pathParameters: pathParameters,
                queryItems: queryItems,
                headers: headers,
                content: content
            )
        }

        /// Returns the body and its media type.
        public func makeContent() throws -> Content? { content }
    }
}

extension HTTP.Endpoint: CustomStringConvertible, CustomReflectable {
    /// The method, the base URL without its secrets, the path as a template, and the head without secret fields.
    public var description: String {
        "\(method) \(baseURL.redactedDescription)" + (path.map { ", \($0)" } ?? "") + (headers.map { "\n\($0)" } ?? "")
    }

    /// The parts of the description, so that a dump shows no URL user info, no parameter and no query.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "baseURL": baseURL.redactedDescription, "path": path as Any,
                "headers": headers as Any,
            ]
        )
    }
}
