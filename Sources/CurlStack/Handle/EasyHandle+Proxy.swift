internal import CCurl
internal import NetworkStack

/// The way a transfer takes to its origin, as far as a proxy is on it.
struct ProxyRoute: Equatable {
    let proxy: Network.Proxy
    /// Whether a tunnel leads through the proxy, so that it sees nothing of the request.
    let isTunnel: Bool

    /// The route of a hop, or `nil` if no proxy is on it.
    init?(_ hop: HTTPHop, _ configuration: Network.Configuration) {
        guard configuration.addresses.unixSocket == nil,
            let proxy = configuration.proxies.proxy(for: hop.origin)
        else { return nil }
        self.proxy = proxy
        // HTTP/2 by prior knowledge is for the origin: libcurl would speak HTTP/1.1 with the proxy instead, unasked.
        isTunnel =
            !proxy.scheme.isHTTP || hop.isSecure || proxy.tunnelsHTTP
            || hop.options.version == .http2PriorKnowledge
    }
}

extension EasyHandle {
    /// Sends what follows by this route. A handle that has it already is not changed.
    func take(_ route: ProxyRoute?) throws(RefusedOption) {
        if route == self.route { return }
        let proxy = route?.proxy
        let opensTunnel = route?.isTunnel ?? false && proxy?.scheme.isHTTP ?? false
        // Asks, while a tunnel is being opened, whether to go on.
        try set(CURLOPT_NOPROGRESS, opensTunnel ? 0 : 1)
        // The empty text keeps the environment's proxies out.
        try set(CURLOPT_PROXY, proxy.map { "\($0.host):\($0.port)" } ?? "")
        try set(CURLOPT_PROXYTYPE, proxy?.scheme.type ?? 0)
        try set(CURLOPT_HTTPPROXYTUNNEL, opensTunnel ? 1 : 0)
        // Apart, because in one text a colon would end the name.
        try set(CURLOPT_PROXYUSERNAME, proxy?.credentials?.user)
        try set(CURLOPT_PROXYPASSWORD, proxy?.credentials?.password)
        var lines = TextLines()
        for field in proxy?.headers ?? [:] { lines.append(field.name, field.value) }
        try keep(TextList(lines), as: CURLOPT_PROXYHEADER)
        self.route = route
    }
}

extension Network.Proxy.Scheme {
    fileprivate var type: Int {
        switch self {
        case .http: Int(CURLPROXY_HTTP.rawValue)
        case .https: Int(CURLPROXY_HTTPS.rawValue)
        case .socks4: Int(CURLPROXY_SOCKS4.rawValue)
        case .socks4a: Int(CURLPROXY_SOCKS4A.rawValue)
        case .socks5: Int(CURLPROXY_SOCKS5.rawValue)
        case .socks5h: Int(CURLPROXY_SOCKS5_HOSTNAME.rawValue)
        }
    }
}
