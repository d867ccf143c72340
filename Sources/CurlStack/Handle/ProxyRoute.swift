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
