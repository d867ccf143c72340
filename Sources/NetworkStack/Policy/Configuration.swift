package import FoundationEssentials

extension Network {
    /// The configuration of a stack, the same for every backend.
    ///
    /// No setting is ignored: if a backend cannot follow one, its initializer throws
    /// ``Network/ConfigurationError/unsupported(_:reason:)``.
    public struct Configuration: Sendable {
        /// Limits of connections.
        public struct Connections: Sendable, Hashable {
            /// The most transfers in flight to one host (scheme, name and port); on CurlStack over HTTP/1.1 only. The rest are
            /// queued in order. At least 1.
            public var perHost: Int
            /// The most transfers in flight in total, or `nil` for no limit. At least 1.
            public var total: Int?
            /// The most HTTP/2 streams in flight to one host, which share one connection. The rest are queued in order. At least
            /// 1. If a server allows fewer, libcurl opens another connection when one is full, unless this is lowered to the
            /// server's limit. URLSession has no such limit.
            public var streamsPerConnection: Int
            /// How long an idle connection is used, or `nil` for the backend's default (118 s on CurlStack). Fractions of a second
            /// are dropped, but less than one second is one. An older connection is not used, but it may stay open as long again,
            /// and longer while another transfer runs.
            public var idleAge: Duration?
            /// How long a connection is used after its opening, or `nil` for no limit. A running transfer is not interrupted.
            /// Whole seconds count (`CURLOPT_MAXLIFETIME_CONN`).
            public var lifetime: Duration?

            /// Makes a set of limits.
            public init(
                perHost: Int = 32,
                total: Int? = nil,
                streamsPerConnection: Int = 100,
                idleAge: Duration? = nil,
                lifetime: Duration? = nil
            ) {
                self.perHost = perHost
                self.total = total
                self.streamsPerConnection = streamsPerConnection
                self.idleAge = idleAge
                self.lifetime = lifetime
            }
        }

        /// The default options of fetches. A resource, a call or a view changes them for itself.
        public var options = HTTP.Options()
        /// Limits of connections.
        public var connections = Connections()
        /// Header fields that a redirect to another origin does not take along, besides `Authorization`, `Cookie` and
        /// `Proxy-Authorization`, such as an API key's. A ``FlightRecorder`` omits their values; a ``LoggingInterceptor`` does
        /// only if its redaction names them. Options can only add to them (``HTTP/Options/addSensitiveHeaders(_:)``).
        public var sensitiveHeaders: Set<HTTP.HeaderName> = []
        /// The proxies of requests. The environment's are used only with ``Network/Proxies/environment(_:)``. URLSession on Linux
        /// can use only those, so a stack on it refuses any other setting.
        public var proxies = Proxies.none
        /// The addresses to which connections are opened, and from which they come.
        public var addresses = Addresses()
        /// TLS: trusted authorities, versions, the client's certificate.
        public var tls = TLSConfiguration()
        /// The pinning policies, or `nil` for none. If a stack cannot pin keys, its initializer throws
        /// ``Network/ConfigurationError/untrusted(_:)``.
        public var serverTrust: ServerTrustConfiguration?
        /// Called, on the stack's queue, for every request that ``serverTrust`` would refuse but only reports or allows.
        public var serverTrustReporter: (@Sendable (ServerTrustReport) -> Void)?
        /// The time, for policies that expire.
        package var wallClock: @Sendable () -> Date = { .now }
        /// The interceptors of every fetch, in order, before those of the resource.
        public var interceptors: [any HTTPResourceInterceptor<HTTP.Request, HTTP.Response>] = []
        /// Observe the fetches and connections of the stack.
        public var listeners: [any EventListener] = []
        /// The clock for delays before retries, or `nil` for the stack's retry queue. If its `sleep` throws, the retry starts at
        /// once.
        public var retryClock: (any Clock<Duration>)?
        /// Header fields of every request. A field of the request, or of an interceptor, replaces one of the same name. A
        /// resource can opt out of all of them (``HTTP/Options/usesSessionHeaders``). `Content-Type` is sent only with a body.
        /// Redirects to another origin treat them like the request's fields.
        public var headers: HTTP.Headers = [:]
        /// The `User-Agent` of requests without one, or `nil` for none. By default it has the package's version.
        public var userAgent: String? = "NetworkStack/\(Network.version)"
        /// Whether requests without `Accept` get `Accept: */*`, as from most clients. It has no meaning (RFC 9110 section
        /// 12.5.1), but some servers expect it.
        public var sendsDefaultAccept = true
        /// The cookie jar, or `nil` (the default) for no cookies.
        public var cookies: HTTP.CookieJar?
        /// The hosts that require https (HSTS), or `nil` (the default) for no HSTS.
        public var strictTransport: HTTP.StrictTransportHosts?

        /// Makes the default configuration.
        public init() {}

        /// Refuses contradictory settings.
        ///
        /// - Throws: ``HTTP/InvalidValue``.
        public func validate() throws(HTTP.InvalidValue) {
            try options.validate()
            try tls.validate()
            let total = connections.total ?? 1
            guard connections.perHost > 0, total > 0, connections.streamsPerConnection > 0 else {
                throw HTTP.InvalidValue("A connection limit must be at least 1.")
            }
            for case let age? in [connections.idleAge, connections.lifetime] where age <= .zero {
                throw HTTP.InvalidValue("The idle age and the lifetime of connections must be longer than zero.")
            }
            try proxies.validate()
            try addresses.validate()
            try headers.checkForSession()
            if let userAgent, !HTTP.Headers.isLegal(value: userAgent) {
                throw HTTP.InvalidValue("The user agent has a character that no header value may have.")
            }
        }
    }
}

extension Network.Configuration {
    /// A configuration for an app that uses one JSON API, with timeouts of 20 and 40 seconds and ten connections.
    ///
    /// - Parameters:
    ///   - contentType: The media type of bodies whose request has none.
    ///   - requestTimeout: The idle timeout: the longest time without a byte in either direction.
    ///   - resourceTimeout: The total timeout of a fetch.
    ///   - connectionsPerHost: The most transfers in flight to one host over HTTP/1.1.
    ///   - headers: Further header fields of every request.
    /// - Returns: The configuration.
    public static func api(
        contentType: HTTP.MediaType = .json,
        requestTimeout: Duration = .seconds(20),
        resourceTimeout: Duration = .seconds(40),
        connectionsPerHost: Int = 10,
        headers: HTTP.Headers = [:]
    ) -> Self {
        var configuration = Self()
        configuration.headers = headers
        if !headers.contains(.contentType) { configuration.headers.contentType = contentType }
        configuration.options.timeouts.idle = requestTimeout
        configuration.options.timeouts.total = resourceTimeout
        configuration.connections.perHost = connectionsPerHost
        return configuration
    }
}
