extension HTTP.HeaderName {
    /// Media types the client accepts.
    public static let accept: Self = "Accept"
    /// Content codings the client accepts.
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// Languages the client prefers.
    public static let acceptLanguage: Self = "Accept-Language"
    /// Whether the server accepts range requests for the target.
    public static let acceptRanges: Self = "Accept-Ranges"
    /// How long the response was in caches, in seconds.
    public static let age: Self = "Age"
    /// Methods the target supports.
    public static let allow: Self = "Allow"
    /// Alternative services of the origin (RFC 7838).
    public static let altSvc: Self = "Alt-Svc"
    /// Credentials for the origin.
    public static let authorization: Self = "Authorization"
    /// Caching directives.
    public static let cacheControl: Self = "Cache-Control"
    /// Options of the connection.
    public static let connection: Self = "Connection"
    /// The file name for the body, and whether to save it (RFC 6266).
    public static let contentDisposition: Self = "Content-Disposition"
    /// Codings applied to the body.
    public static let contentEncoding: Self = "Content-Encoding"
    /// The body's language.
    public static let contentLanguage: Self = "Content-Language"
    /// The body's length in bytes.
    public static let contentLength: Self = "Content-Length"
    /// The URL of the body's representation.
    public static let contentLocation: Self = "Content-Location"
    /// Which range of a representation the body is.
    public static let contentRange: Self = "Content-Range"
    /// The body's media type.
    public static let contentType: Self = "Content-Type"
    /// State that the server set before (RFC 6265).
    public static let cookie: Self = "Cookie"
    /// When the message was made.
    public static let date: Self = "Date"
    /// The representation's validator.
    public static let eTag: Self = "ETag"
    /// What the client expects of the server before it sends a body.
    public static let expect: Self = "Expect"
    /// When the response grows stale.
    public static let expires: Self = "Expires"
    /// The client for which a proxy sends the request (RFC 7239).
    public static let forwarded: Self = "Forwarded"
    /// The target's host and port.
    public static let host: Self = "Host"
    /// Identifies a request, so that repeating it has no further effect (IETF draft).
    public static let idempotencyKey: Self = "Idempotency-Key"
    /// Makes a request conditional on a validator.
    public static let ifMatch: Self = "If-Match"
    /// Makes a request conditional on a later change.
    public static let ifModifiedSince: Self = "If-Modified-Since"
    /// Makes a request conditional on a changed validator.
    public static let ifNoneMatch: Self = "If-None-Match"
    /// Makes a range request conditional on a validator.
    public static let ifRange: Self = "If-Range"
    /// Makes a request conditional on no later change.
    public static let ifUnmodifiedSince: Self = "If-Unmodified-Since"
    /// The last server-sent event that was received.
    public static let lastEventID: Self = "Last-Event-ID"
    /// When the representation was changed.
    public static let lastModified: Self = "Last-Modified"
    /// Links to other resources (RFC 8288).
    public static let link: Self = "Link"
    /// The target of a redirect, or the URL of what was created.
    public static let location: Self = "Location"
    /// The origin that caused the request (RFC 6454).
    public static let origin: Self = "Origin"
    /// How the client prefers the request to be processed (RFC 7240).
    public static let prefer: Self = "Prefer"
    /// How urgent the request is (RFC 9218).
    public static let priority: Self = "Priority"
    /// The authentication challenges of a proxy.
    public static let proxyAuthenticate: Self = "Proxy-Authenticate"
    /// Credentials for a proxy.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// The requested range of a representation.
    public static let range: Self = "Range"
    /// The URL that led to the request.
    public static let referer: Self = "Referer"
    /// When to repeat the request.
    public static let retryAfter: Self = "Retry-After"
    /// The server's software.
    public static let server: Self = "Server"
    /// State that the client should keep (RFC 6265).
    public static let setCookie: Self = "Set-Cookie"
    /// The host may be reached over TLS only (RFC 6797).
    public static let strictTransportSecurity: Self = "Strict-Transport-Security"
    /// Transfer codings the client accepts.
    public static let te: Self = "TE"
    /// The request's place in a distributed trace (W3C Trace Context).
    public static let traceparent: Self = "traceparent"
    /// Data of tracing systems beside it (W3C Trace Context).
    public static let tracestate: Self = "tracestate"
    /// Names of the fields that follow the body.
    public static let trailer: Self = "Trailer"
    /// Codings applied to the message.
    public static let transferEncoding: Self = "Transfer-Encoding"
    /// Protocols to which the client would switch.
    public static let upgrade: Self = "Upgrade"
    /// The client's software.
    public static let userAgent: Self = "User-Agent"
    /// Request fields on which the response depends.
    public static let vary: Self = "Vary"
    /// The proxies that forwarded the message.
    public static let via: Self = "Via"
    /// The authentication challenges of the server.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"
}
