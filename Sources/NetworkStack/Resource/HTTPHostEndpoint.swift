public import FoundationEssentials

/// An endpoint that names its server by scheme, host and port instead of a base URL.
///
/// An app says once where its endpoints are:
///
///     extension HTTPHostEndpoint {
///         var host: HTTP.Host { "api.example.com" }
///     }
public protocol HTTPHostEndpoint: HTTPResourceEndpoint {
    /// The scheme; https unless the endpoint says otherwise.
    var scheme: HTTP.Scheme { get }
    /// The server's name or address, and its port if that is not the scheme's own.
    var host: HTTP.Host { get }
}

extension HTTPHostEndpoint {
    /// HTTP over TLS.
    public var scheme: HTTP.Scheme { .https }

    /// The root of the host. Where no URL comes of scheme and host, one that every stack refuses; ``makeRequest()`` says why.
    public var baseURL: URL { (try? host.url(scheme)) ?? URL(filePath: "/") }

    /// Joins the parts.
    ///
    /// - Throws: ``HTTP/InvalidValue`` where no URL comes of scheme, host and path; what ``makeContent()`` or
    ///   ``makeBody()`` throws.
    public func makeRequest() throws -> HTTP.Request {
        _ = try host.url(scheme)  // It says why, where there is none.
        return try makeRequest(at: baseURL)
    }
}
