public import FoundationEssentials

extension HTTP {
    /// One endpoint as a value, for requests that are not worth a type of their own.
    ///
    /// With a base URL and a path it is relative; with an absolute URL alone it is static:
    ///
    ///     let orders = try HTTP.Endpoint(
    ///         host: "api.example.com", path: "/customers/{id}/orders", pathParameters: ["id": "7"]
    ///     )
    ///     let status = HTTP.Endpoint(baseURL: statusURL)
    public struct Endpoint: HTTPResourceEndpoint {
        /// The method.
        public var method: Method
        /// The URL the path is joined to.
        public var baseURL: URL
        /// The path as decoded text, with a name in braces where a parameter goes.
        public var path: String?
        /// What the places in the path are filled with.
        public var pathParameters: [String: String]
        /// The query's items, after those of the base URL.
        public var queryItems: [URLQueryItem]?
        /// The header fields.
        public var headers: Headers?
        /// The content and what it is.
        public var content: Content?

        /// Describes an endpoint below a base URL, or at it.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - baseURL: The URL the path is joined to.
        ///   - path: The path as decoded text, with a name in braces where a parameter goes.
        ///   - pathParameters: What the places in the path are filled with.
        ///   - queryItems: The query's items, after those of the base URL.
        ///   - headers: The header fields.
        ///   - content: The content and what it is.
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

        /// Describes an endpoint of a host.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - scheme: The scheme, http or https.
        ///   - host: The server's name or address, and perhaps its port.
        ///   - path: The path as decoded text, with a name in braces where a parameter goes.
        ///   - pathParameters: What the places in the path are filled with.
        ///   - queryItems: The query's items.
        ///   - headers: The header fields.
        ///   - content: The content and what it is.
        /// - Throws: ``HTTP/InvalidValue`` if no URL comes of scheme and host.
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

        /// The content.
        public func makeContent() throws -> Content? { content }
    }
}

extension HTTP.Endpoint: CustomStringConvertible, CustomReflectable {
    /// The method, the base URL without its secrets, the path as a template, and the head with secret fields left out.
    public var description: String {
        "\(method) \(baseURL.redactedDescription)" + (path.map { ", \($0)" } ?? "") + (headers.map { "\n\($0)" } ?? "")
    }

    /// The parts of the description: a dump, too, shows no URL user info, no parameter and no query.
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
