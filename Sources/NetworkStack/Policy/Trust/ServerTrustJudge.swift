package import FoundationEssentials

/// Decides for each hop, before a socket is opened, how its server has to be verified.
package struct ServerTrustJudge: Sendable {
    /// Called for servers that are used although they do not pass.
    package typealias Reporter = @Sendable (ServerTrustReport) -> Void

    private let configuration: ServerTrustConfiguration
    /// By domain; an IPv6 address also by its form in a URL.
    private let servers: [String: PinnedServer]
    private let hasPoliciesForSubdomains: Bool
    /// Why keys cannot be pinned, if they cannot. Then hosts with a policy are refused.
    private let obstacle: String?
    private let now: @Sendable () -> Date
    private let report: Reporter

    /// Makes a judge for a configuration.
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

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - origin: The origin of the request.
    ///   - last: The judge's last decision for it. A pinned server stays pinned until its policy expires.
    /// - Returns: How the server has to be verified.
    /// - Throws: Why the request must not be sent, unless that is only reported.
    package func trust(
        for origin: HTTP.Origin,
        after last: ServerTrust = .ordinary
    ) throws(ServerTrustError) -> ServerTrust {
        if case .pinned(let server) = last, !isExpired(server.policy) { return last }
        // Domains are canonical, so a host that is found here is canonical, too. Most hosts need no parsing.
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

    /// Judges an HTTPS proxy by the policy for the proxy's host. A proxy without a policy is trusted by ordinary verification,
    /// whatever applies to hosts.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - origin: The origin of the request.
    ///   - report: Called with what does not pass but is only reported, or allowed.
    /// - Returns: The proxy, if its keys are pinned; a mismatch is refused or only reported.
    /// - Throws: Why it must not be used.
    package func pinned(
        _ proxy: Network.Proxy,
        for origin: HTTP.Origin,
        report: (ServerTrustReport) -> Void
    ) throws(ServerTrustError) -> PinnedServer? {
        guard let server = pinnedServer(CanonicalHost(host: proxy.host)) else { return nil }
        return try hasExpired(server, for: origin, report) ? nil : server
    }

    /// Whether a server's policy has expired and the server is trusted anyway, which is reported.
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

    /// The host with its most specific policy: its own, or that of the nearest parent domain.
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
