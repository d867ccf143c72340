package import FoundationEssentials

extension Network {
    /// How a stack is set up: one value for every backend.
    ///
    /// A backend that cannot do what is asked throws ``Network/ConfigurationError/unsupported(_:reason:)`` from its initializer; nothing
    /// that is asked for is ignored.
    public struct Configuration: Sendable {
        /// How many connections are held, and how long.
        public struct Connections: Sendable, Hashable {
            /// Transfers under way to one host (scheme, name and port), on CurlStack over HTTP/1.1 alone; the rest wait in
            /// order. At least 1.
            public var perHost: Int
            /// Transfers under way in all, or `nil` for no limit. At least 1.
            public var total: Int?
            /// Streams under way to one host over HTTP/2, which share one connection; the rest wait in order. At least 1. To a
            /// server that allows fewer, libcurl opens a connection more where one is full; with this lowered to what the server
            /// allows, the rest wait instead. URLSession has no such limit.
            public var streamsPerConnection: Int
            /// How long an unused connection is kept, or `nil` for the backend's own measure. Whole seconds count. No older one is
            /// used; it may take as long again until it is closed, and longer beside a transfer that goes on.
            public var idleAge: Duration?
            /// How long a connection is used at all, counted from its opening, or `nil` for as long as it is good. A
            /// transfer under way is not cut short. Whole seconds count (`CURLOPT_MAXLIFETIME_CONN`).
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

        /// How every fetch is carried out whose resource has no options of its own. Those of a resource take the place of all
        /// of these (``HTTPResource/options``).
        public var options = HTTP.Options()
        /// How many connections are held.
        public var connections = Connections()
        /// Which proxies requests are sent through. Those of the environment only if they are asked for:
        /// ``Network/Proxies/environment(_:)``. URLSession on Linux uses those, and no others: a stack on it refuses a
        /// configuration that asks for anything else.
        public var proxies = Proxies.none
        /// Where connections lead, and where they come from.
        public var addresses = Addresses()
        /// Whom the stack trusts.
        public var tls = TLSConfiguration()
        /// The keys that servers must have beyond that, or `nil` for none. A stack that cannot pin keys throws
        /// ``Network/ConfigurationError/untrusted(_:)`` from its initializer.
        public var serverTrust: ServerTrustConfiguration?
        /// Hears of every request that ``serverTrust`` would have refused if it did not only report, or allow, it. It is
        /// called on the stack's queue.
        public var serverTrustReporter: (@Sendable (ServerTrustReport) -> Void)?
        /// Tells what time it is, for policies that expire.
        package var wallClock: @Sendable () -> Date = { .now }
        /// Hear and decide what happens to every fetch, in order, before the resource's own.
        public var interceptors: [any HTTPResourceInterceptor<HTTP.Request, HTTP.Response>] = []
        /// Times the delays before retries, or `nil` for the stack's retry queue.
        public var retryClock: (any Clock<Duration>)?
        /// Header fields of every request. One that a request has itself, or that an interceptor gave it, counts instead; a
        /// resource does without all of them if its options say so (``HTTP/Options/usesSessionHeaders``). `Content-Type` is
        /// sent with content alone. After a redirect to another origin they go along or stay as if they were the request's.
        public var headers: HTTP.Headers = [:]
        /// The `User-Agent` of requests that name none, or `nil` for none.
        public var userAgent: String? = "NetworkStack/0.1"
        /// Whether requests that name no `Accept` say `Accept: */*`, as most clients' do. It means what none means
        /// (RFC 9110 section 12.5.1), but some servers expect it.
        public var acceptsAnything = true
        /// Keeps cookies and sends them along. `nil`, the default, means that none are kept, on any stack.
        public var cookies: HTTP.CookieJar?
        /// Knows, and gets to know, the hosts to be reached over https only (HSTS). `nil`, the default, means that none
        /// are.
        public var strictTransport: HTTP.StrictTransportHosts?

        /// Makes the default configuration.
        public init() {}

        /// Refuses what makes no sense.
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
    /// What an app that talks to one API usually shares between its requests: JSON, patience of 20 and 40 seconds, ten
    /// connections.
    ///
    /// - Parameters:
    ///   - contentType: What content is, unless its request says something else.
    ///   - requestTimeout: How long no byte may come or go: the idle timeout.
    ///   - resourceTimeout: How long the whole fetch may take: the total timeout.
    ///   - connectionsPerHost: Transfers under way to one host over HTTP/1.1.
    ///   - headers: More header fields of every request.
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
