import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// An HTTPS proxy has a separate policy, besides those of its origins.
    static let pinnedProxies: [ConformanceCheck] = [
        ConformanceCheck(
            "An HTTPS proxy is reported for every request its policy would stop",
            needs: PinnedTrial.needs.union([.proxies])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let proxy = try TLSProxy(trial.certificates.secondServer)
            try await proxy.start()
            let (right, wrong) = (try trial.certificates.secondServer.publicKeyPins(), try trial.pins(.otherLeaf))
            let plain = try ScriptedServer.responding { _ in .ok("secret") }
            let secure = try trial.server()
            // With this policy the proxy must present its certificates for every request.
            let closing = try ScriptedServer.responding(.init(tls: trial.certificates.server)) { _ in
                .ok("secret", headers: [("Connection", "close")]).then(.close)
            }
            let past = Date(timeIntervalSince1970: 1_000_000)
            let expiry = ServerTrustError.domainPolicyExpired(
                host: "localhost",
                domainName: "localhost",
                expirationDate: past
            )
            let chain = try (right + trial.pins(.otherRoot)).map { PublicKeyPin($0) }
            let mismatch = ServerTrustError.pinVerificationFailed(
                host: "localhost",
                .pinnedHashNotFound(chain: chain.compactMap(\.self))
            )
            let cases:
                [(pins: Set<String>, Date, allowsExpired: Bool, ServerTrustConfiguration.Mode, ServerTrustError?)] =
                    [
                        ([right[0]], .distantFuture, false, .reportOnly, nil),
                        (wrong, .distantFuture, false, .reportOnly, mismatch),
                        (wrong, past, false, .reportOnly, expiry),
                        (wrong, past, true, .reportOnly, expiry), (wrong, past, true, .enforced, expiry),
                    ]
            for (pins, date, allowsExpired, mode, error) in cases {
                let policy = try PinningPolicy(
                    domainName: "localhost",
                    expirationDate: date,
                    pinnedHashes: pins,
                    enforceBackupPin: false
                )
                let trust = try ServerTrustConfiguration(
                    pinningPolicies: [policy],
                    allowNotPinnedDomains: true,
                    allowExpiredDomainPolicies: allowsExpired,
                    mode: mode
                )
                let reports = Lock<[ServerTrustReport]>([])
                let client = try trial.client(trust) {
                    $0.proxies = .init(try tunnel(by: proxy, called: "localhost"))
                    $0.serverTrustReporter = { report in reports.withLock { $0.append(report) } }
                }
                for server in [secure, plain, closing] {
                    reports.withLock { $0 = [] }
                    for _ in 1...2 { _ = try await client.success(trial.request(server.url())) }
                    let count = error == nil ? 0 : 2
                    try await eventually("\(count) reports") { reports.withLock { $0.count } == count }
                    try await expectNoMore(reports)
                    for report in reports.withLock({ $0 }) {
                        let origin = try HTTP.Origin(of: HTTP.Request(url: server.url()).url)
                        try expectEqual(report.origin, origin, "the origin")
                        try expectEqual(report.error, error, "the report")
                    }
                }
            }
        },
        ConformanceCheck(
            "A proxy's keys are not reported as a cleartext server's keys",
            needs: PinnedTrial.needs.union([.proxies, .serverPins])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let proxy = try trial.server()
            let client = try trial.client(nil) {
                $0.proxies = .init(try Network.Proxy(.https, host: "127.0.0.1", port: Int(proxy.port)))
            }
            var options = HTTP.Options()
            options.collectsServerPins = true
            let fetched = try await client.success(HTTP.Request(url: "http://origin.test/"), options: options)
            try expectEqual(fetched.response.metrics.serverPins, nil, "the server's keys")
        },
        ConformanceCheck(
            "A proxy with an expired policy gets no request and delays nothing",
            needs: PinnedTrial.needs.union([.proxies])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let proxy = try TLSProxy(trial.certificates.secondServer)
            try await proxy.start()
            let past = Date(timeIntervalSince1970: 1_000_000)
            let policy = try PinningPolicy(
                domainName: "localhost",
                expirationDate: past,
                pinnedHashes: [trial.certificates.secondServer.publicKeyPins()[0]],
                enforceBackupPin: false
            )
            let trust = try ServerTrustConfiguration(pinningPolicies: [policy], allowNotPinnedDomains: true)
            let client = try trial.client(trust) { $0.proxies = .init(try tunnel(by: proxy, called: "localhost")) }
            let expected = ServerTrustError.domainPolicyExpired(
                host: "localhost",
                domainName: "localhost",
                expirationDate: past
            )
            for server in [try trial.server(), try ScriptedServer.responding { _ in .ok("secret") }] {
                for _ in 1...2 {
                    try expectEqual(await client.distrust(trial.request(server.url())), expected, "the refusal")
                }
                try expectEqual(server.snapshot.accepted, 0, "connections")
            }
            try expectEqual(proxy.tunnels, 0, "requested tunnels")
        },
        ConformanceCheck(
            "A proxy and an origin by address are reported separately",
            needs: PinnedTrial.needs.union([.proxies])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let (proxyIdentity, identity) = try (
                trial.certificates.secondServer, trial.certificates.issue(for: ["127.0.0.2"])
            )
            let proxy = try TLSProxy(proxyIdentity)
            try await proxy.start()
            let (proxyPin, pin) = try (proxyIdentity.publicKeyPins()[0], identity.publicKeyPins()[0])
            let wrong = try trial.pins(.otherLeaf).first ?? ""
            let server = try trial.server(identity)
            for (pins, reported) in [
                ((proxyPin, pin), []), ((wrong, pin), ["127.0.0.1"]), ((proxyPin, wrong), ["127.0.0.2"]),
            ] {
                let reports = Lock<[ServerTrustReport]>([])
                let policies = try addressPolicies(proxy: [pins.0], origin: [pins.1])
                let trust = try ServerTrustConfiguration(pinningPolicies: policies, mode: .reportOnly)
                let client = try trial.client(trust) {
                    $0.proxies = .init(try tunnel(by: proxy, called: "127.0.0.1"))
                    $0.serverTrustReporter = { report in reports.withLock { $0.append(report) } }
                }
                for _ in 1...2 { _ = try await client.success(trial.request(server.url(host: "127.0.0.2"))) }
                let expected = reported + reported
                try await eventually("\(expected.count) reports") { reports.withLock { $0.count } == expected.count }
                let hosts = try reports.withLock { $0 }.map { report in
                    guard case .pinVerificationFailed(let host, .pinnedHashNotFound) = report.error else {
                        throw ConformanceFailure("reported \(report.error)")
                    }
                    return host
                }
                try expectEqual(hosts, expected, "the hosts reported")
            }
        },
        ConformanceCheck(
            "Proxy and origin are verified even if only one is pinned",
            needs: PinnedTrial.needs.union([.proxies])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let certificates = trial.certificates
            let (proxy, strangeProxy) = (try TLSProxy(certificates.secondServer), try TLSProxy(certificates.untrusted))
            try await proxy.start()
            try await strangeProxy.start()
            func client(_ proxy: TLSProxy, _ pins: Set<String>, for host: String) throws -> BoundedClient {
                try trial.client(trial.trust(pins, for: host, notPinned: true)) {
                    $0.proxies = .init(try Network.Proxy(.https, host: "localhost", port: Int(proxy.port)))
                }
            }
            let right = Set(try certificates.secondServer.publicKeyPins())
            for identity in [certificates.untrusted, certificates.expired, certificates.wrongHost] {
                let impostor = try trial.server(identity)
                let request = try trial.request(impostor.url())
                _ = try await client(proxy, right, for: "localhost").breakdown(request)
                // The name in a certificate is checked after the handshake.
                try expectEqual(impostor.requests.count, 0, "requests")
            }
            let server = try trial.server()
            let request = try trial.request(server.url())
            _ = try await client(strangeProxy, trial.pins(.leaf), for: "127.0.0.1").breakdown(request)
            try expectEqual(strangeProxy.tunnels, 0, "requested tunnels")
            try expectEqual(server.snapshot.accepted, 0, "connections")
        },
        ConformanceCheck(
            "An indistinguishable proxy and origin must match both policies",
            needs: PinnedTrial.needs.union([.proxies])
        ) { subject in
            let trial = try PinnedTrial(subject)
            // Addresses are not named in a handshake.
            let (both, stranger) = try (
                trial.certificates.issue(for: ["127.0.0.1", "127.0.0.2"]), trial.certificates.issue(for: ["127.0.0.2"])
            )
            let (proxy, strangeProxy) = (try TLSProxy(both), try TLSProxy(stranger))
            try await proxy.start()
            try await strangeProxy.start()
            func client(_ proxy: TLSProxy, _ own: PinnedCertificate, _ origins: PinnedCertificate) throws
                -> BoundedClient
            {
                let policies = try addressPolicies(proxy: trial.pins(own), origin: trial.pins(origins))
                return try trial.client(.init(pinningPolicies: policies)) {
                    $0.proxies = .init(try tunnel(by: proxy, called: "127.0.0.1"))
                }
            }
            for version in [ScriptedServer.Options.TLSVersion.v12, .v13] {
                let server = try trial.server(both) { $0.maximumTLSVersion = version }
                let right = try client(proxy, .intermediate, .root)
                for _ in 1...2 { _ = try await right.success(trial.request(server.url(host: "127.0.0.2"))) }
            }
            let tunnels = proxy.tunnels
            let untouched = try trial.server(both)
            let request = try trial.request(untouched.url(host: "127.0.0.2"))
            for (own, origins) in [(PinnedCertificate.otherRoot, PinnedCertificate.root), (.root, .otherRoot)] {
                let chain = try await client(proxy, own, origins).mismatch(request)
                try expectEqual(chain.count, 3, "reported keys")
            }
            _ = try await client(strangeProxy, .root, .root).unverified(request)
            try expectEqual(proxy.tunnels + strangeProxy.tunnels, tunnels, "requested tunnels")
            try expectEqual(untouched.snapshot.accepted, 0, "connections")
            let impostor = try trial.server(trial.certificates.secondServer)
            _ = try await client(proxy, .root, .root).unverified(trial.request(impostor.url(host: "127.0.0.2")))
            try await impostor.expectNothingReceived()
        },
    ]

    /// A proxy with a tunnel for every request.
    private static func tunnel(by proxy: TLSProxy, called host: String) throws -> Network.Proxy {
        var route = try Network.Proxy(.https, host: host, port: Int(proxy.port))
        route.tunnelsHTTP = true
        return route
    }

    /// Policies for a proxy at 127.0.0.1 and an origin at 127.0.0.2.
    private static func addressPolicies(proxy: Set<String>, origin: Set<String>) throws -> [PinningPolicy] {
        try [("127.0.0.1", proxy), ("127.0.0.2", origin)].map {
            try PinningPolicy(domainName: $0, pinnedHashes: $1, enforceBackupPin: false)
        }
    }
}
