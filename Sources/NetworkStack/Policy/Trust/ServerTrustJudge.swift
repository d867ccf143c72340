package import FoundationEssentials

/// Decides hop by hop, before a socket is opened, how a server is to be trusted.
package struct ServerTrustJudge: Sendable {
    /// Hears of servers that are trusted although they do not pass.
    package typealias Reporter = @Sendable (ServerTrustReport) -> Void

    private let configuration: ServerTrustConfiguration
    /// By domain, and an IPv6 address by the form it has in a URL, too.
    private let servers: [String: PinnedServer]
    private let hasPoliciesForSubdomains: Bool
    /// Why keys cannot be pinned, if they cannot: then nothing goes to a host with a policy.
    private let obstacle: String?
    private let now: @Sendable () -> Date
    private let report: Reporter

    /// Makes a judge by a configuration.
    package init(
        _ configuration: ServerTrustConfiguration,
        obstacle: String? = nil,
        now: @escaping @Sendable () -> Date = { .now },
        report: @escaping Reporter = { _ in }
    ) {
        self.configuration = configuration
        self.obstacle = obstacle
        self.now = now
        self.report = report
        let pairs = configuration.pinningPolicies.flatMap { policy in
            let server = PinnedServer(policy.host, policy: policy, configuration: configuration)
            return [policy.domainName, "[\(policy.domainName)]"].map { ($0, server) }
        }
        servers = Dictionary(pairs) { first, _ in first }
        hasPoliciesForSubdomains = configuration.pinningPolicies.contains { $0.includeSubdomains }
    }

    /// Judges a request by where it goes.
    ///
    /// - Parameters:
    ///   - origin: Where it goes.
    ///   - last: What this judge said of it before: where its server was pinned, nothing but time can have changed that.
    /// - Returns: How the server is to be trusted.
    /// - Throws: What speaks against sending it, if that is not only to be reported.
    package func trust(
        for origin: HTTP.Origin,
        after last: ServerTrust = .ordinary
    ) throws(ServerTrustError) -> ServerTrust {
        if case .pinned(let server) = last, !isExpired(server.policy) { return last }
        // Domains are canonical, so a host that is found as it stands is, too: most are, and need not be read.
        guard let server = servers[origin.host] ?? pinnedServer(CanonicalHost(origin)) else {
            if !configuration.allowNotPinnedDomains {
                try object(.domainNotPinned(host: CanonicalHost(origin).text), to: origin)
            }
            return .ordinary
        }
        if try hasExpired(server, for: origin, report) { return .ordinary }
        if let obstacle { throw .pinningUnsupported(reason: obstacle) }
        guard origin.scheme == .https else {
            try object(.insecureScheme(host: server.host), to: origin)
            return .ordinary
        }
        return .pinned(server)
    }

    /// Judges a proxy that is spoken to over TLS, by the policy for its own host. A proxy without one is trusted by ordinary
    /// verification, whatever is said of hosts.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - origin: Whom the request goes to.
    ///   - report: Hears what speaks against the proxy and is only to be reported, or allowed.
    /// - Returns: The proxy, if its keys are pinned: what does not match is refused, or only to be reported.
    /// - Throws: What speaks against using it.
    package func pinned(
        _ proxy: Network.Proxy,
        for origin: HTTP.Origin,
        report: (ServerTrustReport) -> Void
    ) throws(ServerTrustError) -> PinnedServer? {
        guard let server = pinnedServer(CanonicalHost(host: proxy.host)) else { return nil }
        return try hasExpired(server, for: origin, report) ? nil : server
    }

    /// Whether a server's policy has expired and it is trusted all the same, which is reported.
    private func hasExpired(
        _ server: PinnedServer,
        for origin: HTTP.Origin,
        _ report: (ServerTrustReport) -> Void
    ) throws(ServerTrustError) -> Bool {
        guard isExpired(server.policy) else { return false }
        let error = ServerTrustError.domainPolicyExpired(
            host: server.host,
            domainName: server.policy.domainName,
            expirationDate: server.policy.expirationDate
        )
        guard configuration.allowExpiredDomainPolicies || onlyReports else { throw error }
        report(.init(origin: origin, error: error))
        return true
    }

    private var onlyReports: Bool { configuration.mode == .reportOnly }

    private func isExpired(_ policy: PinningPolicy) -> Bool { policy.isExpired(at: now()) }

    private func object(_ error: ServerTrustError, to origin: HTTP.Origin) throws(ServerTrustError) {
        guard onlyReports else { throw error }
        report(.init(origin: origin, error: error))
    }

    /// The host with the most specific policy that is for it: its own, or that of the nearest domain above it.
    private func pinnedServer(_ host: CanonicalHost) -> PinnedServer? {
        if let server = servers[host.text] { return server }
        guard hasPoliciesForSubdomains, !host.isAddress else { return nil }
        var rest = Substring(host.text)
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            if let policy = servers[String(rest)]?.policy, policy.includeSubdomains, !policy.host.isAddress {
                return PinnedServer(host, policy: policy, configuration: configuration)
            }
        }
        return nil
    }
}
