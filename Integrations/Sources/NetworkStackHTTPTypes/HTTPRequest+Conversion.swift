public import FoundationEssentials
public import HTTPTypes
public import NetworkStack

extension HTTP.Request {
    /// Makes a request from one of swift-http-types. Its URL consists of `:scheme`, `:authority` and `:path`. A `Host` field that
    /// repeats `:authority` is left out.
    ///
    /// - Parameters:
    ///   - request: The request: http or https, with all three of them.
    ///   - body: The body.
    /// - Throws: ``HTTPTypesConversionError``.
    public init(_ request: HTTPRequest, body: HTTP.Body = .none) throws(HTTPTypesConversionError) {
        guard request.extendedConnectProtocol == nil else { throw .unsupported(":protocol") }
        let scheme = try Self.present(request.scheme, ":scheme")
        let authority = try Self.present(request.authority, ":authority")
        let path = try Self.present(request.path, ":path")
        guard !authority.utf8.contains(where: Self.endsAuthority) else {
            throw .invalidTarget("The :authority is not host[:port]; user info belongs in an Authorization field.")
        }
        guard path.hasPrefix("/"), !path.utf8.contains(UInt8(ascii: "#")) else {
            throw .invalidTarget("The :path has to begin with a slash, and has no fragment.")
        }
        let method = HTTP.Method(rawValue: request.method.rawValue)
        let fields = try HTTP.Headers(request.headerFields)
        guard fields.values(for: .host).allSatisfy({ $0.lowercased() == authority.lowercased() }) else {
            throw .hostDiffers
        }
        let headers = HTTP.Headers(fields.filter { $0.name != .host })
        do {
            try self.init(method: method, url: "\(scheme)://\(authority)\(path)", headers: headers, body: body)
        } catch { throw .invalidTarget(error.reason) }
    }

    private static func present(_ value: String?, _ name: String) throws(HTTPTypesConversionError) -> String {
        guard let value, !value.isEmpty else { throw .missing(name) }
        return value
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool { "/?#@\\".utf8.contains(byte) }
}

extension HTTPRequest {
    /// Makes a request of swift-http-types, without the body. `:scheme`, `:authority` and `:path` come from the URL; its fragment
    /// is left out.
    ///
    /// - Parameter request: The request. Its URL has no user info, for which this type has no place.
    /// - Throws: ``HTTPTypesConversionError``.
    public init(_ request: HTTP.Request) throws(HTTPTypesConversionError) {
        guard let method = Method(request.method.rawValue) else { throw .invalidMethod }
        let (scheme, authority, path) = try Self.parts(of: request.url)
        self.init(
            method: method,
            scheme: scheme,
            authority: authority,
            path: path,
            headerFields: try HTTPFields(request.headers)
        )
    }

    /// The same request to a server: with the scheme and the authority of a base URL, and with its path before this path. A slash at
    /// the end of the base URL is not repeated; its query and fragment are left out.
    ///
    ///     request.path = "/pets?limit=10"
    ///     try request.on(server: URL(string: "https://api.example.com/v1")!)  // https://api.example.com/v1/pets?limit=10
    ///
    /// - Parameter baseURL: An absolute http or https URL, such as a server's in an OpenAPI document.
    /// - Returns: The request.
    /// - Throws: ``HTTPTypesConversionError/invalidTarget(_:)`` if the base URL is none or has user info, or if the path does not begin with a
    ///   slash.
    public func on(server baseURL: URL) throws(HTTPTypesConversionError) -> HTTPRequest {
        let (scheme, authority, path) = try Self.parts(of: baseURL)
        let own = self.path ?? "/"
        guard own.isEmpty || own.hasPrefix("/") || own.hasPrefix("?") else {
            throw .invalidTarget("The :path begins with a slash.")
        }
        var base = path.prefix { $0 != "?" }
        if base.hasSuffix("/") { base.removeLast() }
        var request = self
        (request.scheme, request.authority) = (scheme, authority)
        request.path = base + own
        return request
    }

    /// Scheme, authority, and path with query of a URL's text.
    private static func parts(of url: URL) throws(HTTPTypesConversionError) -> (String, String, String) {
        do { _ = try HTTP.Origin(of: url) } catch { throw .invalidTarget(error.reason) }
        let text = url.absoluteString.prefix { $0 != "#" }
        let scheme = text.prefix { $0 != ":" }
        let rest = text.dropFirst(scheme.count + "://".count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else {
            throw .invalidTarget("The URL has user info; set an Authorization field instead.")
        }
        let path = rest.dropFirst(authority.count)
        return (scheme.lowercased(), String(authority), path.hasPrefix("/") ? String(path) : "/" + path)
    }
}
