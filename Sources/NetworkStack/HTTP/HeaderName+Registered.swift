extension HTTP.HeaderName {
    /// Media types the client accepts.
    public static let accept: Self = "Accept"
    /// Content codings the client accepts.
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// Languages the client prefers.
    public static let acceptLanguage: Self = "Accept-Language"
    /// Whether ranges of the target may be asked for.
    public static let acceptRanges: Self = "Accept-Ranges"
    /// How long the response lay in a cache, in seconds.
    public static let age: Self = "Age"
    /// Methods the target supports.
    public static let allow: Self = "Allow"
    /// Other services that stand for the origin (RFC 7838).
    public static let altSvc: Self = "Alt-Svc"
    /// Credentials for the origin.
    public static let authorization: Self = "Authorization"
    /// Caching directives.
    public static let cacheControl: Self = "Cache-Control"
    /// What is to become of the connection.
    public static let connection: Self = "Connection"
    /// Under which name the content is to be kept (RFC 6266).
    public static let contentDisposition: Self = "Content-Disposition"
    /// Codings applied to the content.
    public static let contentEncoding: Self = "Content-Encoding"
    /// The content's language.
    public static let contentLanguage: Self = "Content-Language"
    /// The content's length in bytes.
    public static let contentLength: Self = "Content-Length"
    /// Where the content has a URL of its own.
    public static let contentLocation: Self = "Content-Location"
    /// Which part of a representation the content is.
    public static let contentRange: Self = "Content-Range"
    /// The content's media type.
    public static let contentType: Self = "Content-Type"
    /// State the server gave the client (RFC 6265).
    public static let cookie: Self = "Cookie"
    /// When the message was made.
    public static let date: Self = "Date"
    /// The representation's validator.
    public static let eTag: Self = "ETag"
    /// What the client expects of the server before it sends content.
    public static let expect: Self = "Expect"
    /// When the response grows stale.
    public static let expires: Self = "Expires"
    /// For whom a proxy asks (RFC 7239).
    public static let forwarded: Self = "Forwarded"
    /// The target's host and port.
    public static let host: Self = "Host"
    /// Names a request, so that a repeated one is done once (IETF draft).
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
    /// Where the client is sent.
    public static let location: Self = "Location"
    /// Who has the request made (RFC 6454).
    public static let origin: Self = "Origin"
    /// How the client would like the request treated (RFC 7240).
    public static let prefer: Self = "Prefer"
    /// How urgent the request is (RFC 9218).
    public static let priority: Self = "Priority"
    /// How the client is to authenticate to a proxy.
    public static let proxyAuthenticate: Self = "Proxy-Authenticate"
    /// Credentials for a proxy.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// Which part of a representation is asked for.
    public static let range: Self = "Range"
    /// Where the client came from.
    public static let referer: Self = "Referer"
    /// When to ask again.
    public static let retryAfter: Self = "Retry-After"
    /// What the server is.
    public static let server: Self = "Server"
    /// State the server gives the client (RFC 6265).
    public static let setCookie: Self = "Set-Cookie"
    /// That the host is to be reached over TLS only (RFC 6797).
    public static let strictTransportSecurity: Self = "Strict-Transport-Security"
    /// Transfer codings the client accepts.
    public static let te: Self = "TE"
    /// The request's place in a distributed trace (W3C Trace Context).
    public static let traceparent: Self = "traceparent"
    /// What tracing systems add to it (W3C Trace Context).
    public static let tracestate: Self = "tracestate"
    /// Fields that follow the content.
    public static let trailer: Self = "Trailer"
    /// Codings applied to the message.
    public static let transferEncoding: Self = "Transfer-Encoding"
    /// Protocols the client would switch to.
    public static let upgrade: Self = "Upgrade"
    /// What the client is.
    public static let userAgent: Self = "User-Agent"
    /// Request fields the response depends on.
    public static let vary: Self = "Vary"
    /// The proxies the message came through.
    public static let via: Self = "Via"
    /// How the client is to authenticate.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"
}
