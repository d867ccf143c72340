internal import FoundationEssentials

extension Network {
    /// Which proxy a request is sent through, if any. The environment has no say unless it is asked.
    public struct Proxies: Sendable, Hashable {
        /// The proxy for `http` URLs.
        public var http: Proxy?
        /// The proxy for `https` URLs.
        public var https: Proxy?
        /// The origins that are reached without a proxy.
        public var exceptions: ProxyExceptions

        /// No proxy.
        public static let none = Proxies(http: nil, https: nil)

        /// Chooses proxies by the URL's scheme.
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

        /// Chooses one proxy for everything.
        ///
        /// - Parameters:
        ///   - proxy: The proxy.
        ///   - exceptions: The origins that are reached without it.
        public init(_ proxy: Proxy, except exceptions: ProxyExceptions = .none) {
            self.init(http: proxy, https: proxy, except: exceptions)
        }

        /// Reads the proxies that an environment names, with curl's precedence.
        ///
        /// For `http` URLs `http_proxy`, in small letters only: `HTTP_PROXY` can be set by whoever sends a `Proxy` header to
        /// a CGI program. For `https` URLs `https_proxy`, else `HTTPS_PROXY`. For both, in want of these, `all_proxy`, else
        /// `ALL_PROXY`. The exceptions are those of `no_proxy`, else `NO_PROXY`. An empty variable counts as none.
        ///
        /// - Parameter variables: The variables; `nil` for those of this process, as they are now.
        /// - Returns: The proxies that are named, and the exceptions.
        /// - Throws: ``HTTP/InvalidValue`` that names the variable which cannot be read.
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

        /// Whether no request is ever sent through a proxy.
        public var isEmpty: Bool { http == nil && https == nil }

        /// The proxy for an origin.
        ///
        /// - Parameter origin: Where the request is to go.
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
