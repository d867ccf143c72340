internal import FoundationEssentials

extension Network {
    /// The proxies of requests. The environment's are used only on request (``environment(_:)``).
    public struct Proxies: Sendable, Hashable {
        /// The proxy for `http` URLs.
        public var http: Proxy?
        /// The proxy for `https` URLs.
        public var https: Proxy?
        /// The origins that are reached without a proxy.
        public var exceptions: ProxyExceptions

        /// No proxy.
        public static let none = Proxies(http: nil, https: nil)

        /// Sets proxies by the URL's scheme.
        ///
        /// - Parameters:
        ///   - http: The proxy for `http` URLs.
        ///   - https: The proxy for `https` URLs.
        ///   - exceptions: The origins that are reached without a proxy.
        public init(http: Proxy?, https: Proxy?, except exceptions: ProxyExceptions = .none) {
            self.http = http
            self.https = https
            self.exceptions = exceptions
        }

        /// Sets one proxy for all URLs.
        ///
        /// - Parameters:
        ///   - proxy: The proxy.
        ///   - exceptions: The origins that are reached without it.
        public init(_ proxy: Proxy, except exceptions: ProxyExceptions = .none) {
            self.init(http: proxy, https: proxy, except: exceptions)
        }

        /// Reads the proxies from the environment, with curl's precedence.
        ///
        /// For `http` URLs it is `http_proxy`, in lower case only: a client of a CGI program can set `HTTP_PROXY` with a `Proxy`
        /// header. For `https` URLs it is `https_proxy`, else `HTTPS_PROXY`. If these are missing, it is `all_proxy`, else
        /// `ALL_PROXY`. The exceptions are those of `no_proxy`, else `NO_PROXY`. An empty variable counts as missing.
        ///
        /// - Parameter variables: The variables; `nil` for the current ones of this process.
        /// - Returns: The proxies and the exceptions.
        /// - Throws: ``HTTP/InvalidValue`` with the name of the variable that cannot be parsed.
        public static func environment(_ variables: [String: String]? = nil) throws(HTTP.InvalidValue) -> Proxies {
            let variables = variables ?? ProcessInfo.processInfo.environment
            func first(_ names: String...) -> (name: String, value: String)? {
                names.lazy.compactMap { name in variables[name].map { (name, $0) } }.first { !$0.1.isEmpty }
            }
            func read<Value>(
                _ variable: (name: String, value: String)?,
                _ make: (String) throws(HTTP.InvalidValue) -> Value
            ) throws(HTTP.InvalidValue) -> Value? {
                guard let variable else { return nil }
                do { return try make(variable.value) } catch {
                    throw HTTP.InvalidValue("The variable \(variable.name): \(error)")
                }
            }
            let http = try read(first("http_proxy", "all_proxy", "ALL_PROXY")) { url throws(HTTP.InvalidValue) in
                try Proxy(url)
            }
            let https = try read(first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")) {
                url throws(HTTP.InvalidValue) in
                try Proxy(url)
            }
            let exceptions =
                try read(first("no_proxy", "NO_PROXY")) { list throws(HTTP.InvalidValue) in try ProxyExceptions(list) }
                ?? .none
            return Proxies(http: http, https: https, except: exceptions)
        }

        /// Whether no request is sent through a proxy.
        public var isEmpty: Bool { http == nil && https == nil }

        /// Returns the proxy for an origin.
        ///
        /// - Parameter origin: The origin of the request.
        /// - Returns: The proxy, or `nil` if the origin is reached without one.
        public func proxy(for origin: HTTP.Origin) -> Proxy? {
            guard let proxy = origin.scheme == .https ? https : http, !exceptions.contains(origin) else { return nil }
            return proxy
        }

        func validate() throws(HTTP.InvalidValue) {
            try http?.validate()
            try https?.validate()
        }
    }
}
