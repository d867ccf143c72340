public import FoundationEssentials

extension HTTP {
    /// Builds a request for the short calls: `.post(url, json: order).bearer(token)`.
    ///
    /// Building it does not throw. The call that sends it throws its first fault, before anything is sent:
    /// ``HTTPFetchError/invalidRequest(_:)`` for a URL, a header field or a media type, ``HTTPFetchError/noRequest(_:)`` with the
    /// error of an encoder or a file.
    public struct RequestBuilder: Sendable {
        private var method: Method
        private var url: any HTTPURLConvertible
        private var headers: Headers = [:]
        private var queryItems: [URLQueryItem] = []
        private var content = Content(.none, as: nil)
        private var fault: (any Error)?

        /// Begins a request.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - url: The URL, as text or as `URL`.
        public init(_ method: Method, _ url: some HTTPURLConvertible) {
            self.method = method
            self.url = url
        }

        /// Begins a request that is a copy of another.
        ///
        /// - Parameter request: The request.
        public init(_ request: Request) {
            self.init(request.method, request.url)
            headers = request.headers
            content = Content(request.body, as: nil)
        }

        /// The request.
        ///
        /// - Returns: The request.
        /// - Throws: ``InvalidValue``, or the error of an encoder or a file (``FileError``).
        public func request() throws -> Request {
            if let fault { throw fault }
            let url = try url.httpURL()
            return try Request(
                method: method,
                url: queryItems.isEmpty ? url : EndpointURL.join(url, path: nil, queryItems: queryItems),
                headers: headers,
                content: content
            )
        }
    }
}

extension HTTP.RequestBuilder {
    /// A GET request.
    ///
    /// - Parameter url: The URL, as text or as `URL`.
    /// - Returns: The builder.
    public static func get(_ url: some HTTPURLConvertible) -> Self { Self(.GET, url) }

    /// A HEAD request.
    ///
    /// - Parameter url: The URL, as text or as `URL`.
    /// - Returns: The builder.
    public static func head(_ url: some HTTPURLConvertible) -> Self { Self(.HEAD, url) }

    /// A DELETE request.
    ///
    /// - Parameter url: The URL, as text or as `URL`.
    /// - Returns: The builder.
    public static func delete(_ url: some HTTPURLConvertible) -> Self { Self(.DELETE, url) }

    /// A POST request.
    ///
    /// - Parameters:
    ///   - url: The URL, as text or as `URL`.
    ///   - body: The body.
    /// - Returns: The builder.
    public static func post(_ url: some HTTPURLConvertible, body: HTTP.Body = .none) -> Self {
        Self(.POST, url).body(body)
    }

    /// A POST request with a JSON body.
    ///
    /// - Parameters:
    ///   - url: The URL, as text or as `URL`.
    ///   - value: The value, encoded at once.
    /// - Returns: The builder.
    public static func post(_ url: some HTTPURLConvertible, json value: some Encodable) -> Self {
        Self(.POST, url).json(value)
    }

    /// A PUT request.
    ///
    /// - Parameters:
    ///   - url: The URL, as text or as `URL`.
    ///   - body: The body.
    /// - Returns: The builder.
    public static func put(_ url: some HTTPURLConvertible, body: HTTP.Body = .none) -> Self {
        Self(.PUT, url).body(body)
    }

    /// A PUT request with a JSON body.
    ///
    /// - Parameters:
    ///   - url: The URL, as text or as `URL`.
    ///   - value: The value, encoded at once.
    /// - Returns: The builder.
    public static func put(_ url: some HTTPURLConvertible, json value: some Encodable) -> Self {
        Self(.PUT, url).json(value)
    }

    /// A PATCH request.
    ///
    /// - Parameters:
    ///   - url: The URL, as text or as `URL`.
    ///   - body: The body.
    /// - Returns: The builder.
    public static func patch(_ url: some HTTPURLConvertible, body: HTTP.Body = .none) -> Self {
        Self(.PATCH, url).body(body)
    }

    /// A PATCH request with a JSON body.
    ///
    /// - Parameters:
    ///   - url: The URL, as text or as `URL`.
    ///   - value: The value, encoded at once.
    /// - Returns: The builder.
    public static func patch(_ url: some HTTPURLConvertible, json value: some Encodable) -> Self {
        Self(.PATCH, url).json(value)
    }
}

extension HTTP.RequestBuilder {
    /// Sets a header field; one with the same name is replaced.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    /// - Returns: The builder.
    public func header(_ name: HTTP.HeaderName, _ value: String) -> Self { changed { $0.headers[name] = value } }

    /// Leaves a header field out.
    func without(_ name: HTTP.HeaderName) -> Self { changed { $0.headers[name] = nil } }

    /// Adds a query item after those of the URL. Name and value are percent-encoded, including `+`.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    /// - Returns: The builder.
    public func query(_ name: String, _ value: String) -> Self {
        changed { $0.queryItems.append(URLQueryItem(name: name, value: value)) }
    }

    /// Sets `Authorization` to a bearer token (RFC 6750 section 2.1). Redirects to another origin do not send it.
    ///
    /// - Parameter token: The token.
    /// - Returns: The builder.
    public func bearer(_ token: String) -> Self {
        header(.authorization, HTTP.AuthScheme.bearer.credentials(token))
    }

    /// Sets `Authorization` to a user's name and password (RFC 7617). Redirects to another origin do not send them.
    ///
    /// - Parameters:
    ///   - user: The name; without a colon or control characters.
    ///   - password: The password; without control characters.
    /// - Returns: The builder.
    public func basic(_ user: String, _ password: String) -> Self {
        changed { builder in
            try builder.headers[.authorization] = HTTP.Credentials(user: user, password: password).basic()
        }
    }

    /// Sets the body, without a `Content-Type`.
    ///
    /// - Parameter body: The body.
    /// - Returns: The builder.
    public func body(_ body: HTTP.Body) -> Self { content(HTTP.Content(body, as: nil)) }

    /// Sets the body and its media type. A `Content-Type` among the header fields takes precedence.
    ///
    /// - Parameter content: The body and its media type.
    /// - Returns: The builder.
    public func content(_ content: HTTP.Content) -> Self { changed { $0.content = content } }

    /// Sets a JSON body (`application/json`).
    ///
    /// - Parameters:
    ///   - value: The value, encoded at once.
    ///   - encoder: Encodes it.
    /// - Returns: The builder.
    public func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) -> Self {
        changed { $0.content = try .json(value, encoder: encoder) }
    }

    /// Sets the body to a form's fields (`application/x-www-form-urlencoded`).
    ///
    /// - Parameter fields: The fields, in order; repeated names are kept.
    /// - Returns: The builder.
    public func form(_ fields: KeyValuePairs<String, String>) -> Self { content(.form(fields)) }

    /// Sets the body to a form whose fields are parts, such as files (`multipart/form-data`).
    ///
    /// - Parameter form: The form.
    /// - Returns: The builder.
    public func multipart(_ form: MultipartFormData) -> Self { changed { $0.content = try .multipart(form) } }

    private func changed(_ change: (inout Self) throws -> Void) -> Self {
        var builder = self
        do { try change(&builder) } catch { builder.fault = builder.fault ?? error }
        return builder
    }
}

extension HTTP.RequestBuilder: CustomStringConvertible, CustomReflectable {
    /// The request's description, without secrets, or the reason why it is invalid.
    public var description: String {
        do { return try request().description } catch { return "An invalid request: \(error)" }
    }

    /// The same. A dump shows no secrets either.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
