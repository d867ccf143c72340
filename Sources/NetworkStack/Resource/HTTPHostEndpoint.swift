public import FoundationEssentials

/// An endpoint that names its server by scheme, host and port instead of a base URL.
///
/// Define the host of an app once:
///
///     extension HTTPHostEndpoint {
///         var host: HTTP.Host { "api.example.com" }
///     }
public protocol HTTPHostEndpoint: HTTPResourceEndpoint {
    /// The scheme; https by default.
    var scheme: HTTP.Scheme { get }
    /// The server's name or address, with its port if that is not the scheme's default.
    var host: HTTP.Host { get }
}

extension HTTPHostEndpoint {
    /// HTTP over TLS.
    public var scheme: HTTP.Scheme { .https }

    /// The root of the host. If scheme and host make no URL, it is one that every stack refuses, and ``makeRequest()`` throws the
    /// reason.
    public var baseURL: URL { (try? host.url(scheme)) ?? URL(filePath: "/") }

    /// Joins the parts.
    ///
    /// - Throws: ``HTTP/InvalidValue`` if scheme, host and path make no URL; the errors of ``makeContent()`` and ``makeBody()``.
    public func makeRequest() throws -> HTTP.Request {
        _ = try host.url(scheme)  // It throws the reason if there is none.
        return try makeRequest(at: baseURL)
    }
}
