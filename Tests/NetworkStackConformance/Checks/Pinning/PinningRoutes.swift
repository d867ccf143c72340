import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// On every route, and with any names in its certificate, a server must have the keys of the requested
    /// host.
    static let pinnedRoutes: [ConformanceCheck] = [
        ConformanceCheck(
            "Every route to a pinned server must match its keys",
            needs: PinnedTrial.needs.union([.proxies])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let (tinyproxy, socks) = (try TinyproxyServer(), try MicrosocksServer())
            try await tinyproxy.start()
            try await socks.start()
            typealias Route = (inout Network.Configuration, ScriptedServer) throws -> Void
            let routes: [(String, Route)] = [
                ("a.test", { try $0.addresses.hostOverrides = [$1.everyName()] }),
                (
                    "a.test",
                    {
                        let to = (host: "localhost", port: Int($1.port))
                        try $0.addresses.reroutes = [.init(host: nil, port: nil, toHost: to.host, toPort: to.port)]
                    }
                ),
                (
                    "127.0.0.1",
                    { configuration, _ in try configuration.use("http://127.0.0.1:\(tinyproxy.port)") }
                ),
                (
                    "localhost",
                    { configuration, _ in try configuration.use("socks5h://127.0.0.1:\(socks.port)") }
                ),
            ]
            for (host, route) in routes {
                for scope in PinningPolicy.Scope.allCases {
                    for isRight in [true, false] {
                        let server = try trial.server()
                        let pins = try trial.pins(isRight ? .leaf : .otherLeaf)
                        let client = try trial.client(trial.trust(pins, for: host, scope: scope)) {
                            try route(&$0, server)
                        }
                        let request = try trial.request(server.url(host: host))
                        if isRight {
                            _ = try await client.success(request)
                        } else {
                            try await client.mismatch(request)
                            try await server.expectNothingReceived()
                        }
                    }
                }
            }
        },
        ConformanceCheck("An Alt-Svc field of a pinned server leads nowhere", needs: PinnedTrial.needs) { subject in
            let trial = try PinnedTrial(subject)
            let impostor = try trial.server(trial.certificates.rotatedServer)
            let elsewhere = "http/1.1=\"127.0.0.1:\(impostor.port)\", h2=\":\(impostor.port)\"; ma=86400"
            let server = try ScriptedServer.responding(.init(tls: trial.certificates.server)) { _ in
                .ok("secret", headers: [("Alt-Svc", elsewhere), ("Connection", "close")]).then(.close)
            }
            let client = try trial.client(trial.trust(trial.pins(.leaf)))
            for _ in 1...3 { _ = try await client.success(trial.request(server.url())) }
            try expectEqual(server.requests.count, 3, "requests")
            try expectEqual(impostor.snapshot.accepted, 0, "connections elsewhere")
        },
        ConformanceCheck(
            "Hosts with one certificate share no connection, and each match their pins",
            needs: PinnedTrial.needs.union([.http2])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let nginx = try NginxServer()
            try await nginx.start()
            let policies = try [("a.test", PinnedCertificate.root), ("b.test", .otherLeaf)].map {
                try PinningPolicy(domainName: $0, pinnedHashes: trial.pins($1), enforceBackupPin: false)
            }
            let client = try trial.client(.init(pinningPolicies: policies, allowNotPinnedDomains: true)) {
                $0.addresses.hostOverrides = [
                    try .init(host: "*", port: Int(nginx.httpsPort), addresses: ["127.0.0.1"])
                ]
            }
            for _ in 1...2 {
                for host in ["a.test", "localhost"] { _ = try await client.get(nginx.httpsURL("/json", host: host)) }
                try await client.mismatch(HTTP.Request(url: nginx.httpsURL("/json", host: "b.test")))
            }
            let log = try await nginx.waitForLog { $0.count == 4 }
            try expectEqual(Set(log.map(\.connection)).count, 2, "connections")
            try expectEqual(Set(log.map(\.serverProtocol)), ["HTTP/2.0"], "protocols")
        },
        ConformanceCheck("A certificate proves only the names in it", needs: PinnedTrial.needs) {
            subject in
            let trial = try PinnedTrial(subject)
            // a.test, a zero byte, .evil.test
            let withZeroByte = "DER:30:13:82:11:61:2E:74:65:73:74:00:2E:65:76:69:6C:2E:74:65:73:74"
            let cases: [(names: [String], good: [String], bad: [String])] = [
                (["DNS:127.0.0.1"], [], ["127.0.0.1"]), (["IP:127.0.0.2"], [], ["127.0.0.1"]),
                ([withZeroByte], [], ["a.test"]), (["DNS:x*.a.test"], [], ["xy.a.test"]),
                (["DNS:*.a.test"], ["x.a.test", "X.A.test."], ["a.test", "y.x.a.test", "127.0.0.1"]),
            ]
            for (names, good, bad) in cases {
                let identity = try trial.certificates.issue(for: names)
                for (host, isGood) in good.map({ ($0, true) }) + bad.map({ ($0, false) }) {
                    let domain = host.hasPrefix("1") ? host : "a.test"
                    for pins in [Set<String>?.none, try trial.pins(.intermediate)] {
                        let server = try trial.server(identity)
                        let policy = try pins.map {
                            try PinningPolicy(
                                domainName: domain,
                                includeSubdomains: true,
                                pinnedHashes: $0,
                                enforceBackupPin: false
                            )
                        }
                        let client = try trial.client(policy.map { try .init(pinningPolicies: [$0]) }) {
                            $0.addresses.hostOverrides = host.hasPrefix("1") ? [] : [try server.everyName()]
                        }
                        let request = try trial.request(server.url(host: host))
                        if isGood {
                            _ = try await client.success(request)
                        } else if pins == nil {
                            _ = try await client.breakdown(request)
                            try await server.expectNothingReceived(handshakes: true)
                        } else {
                            _ = try await client.unverified(request)
                            try await server.expectNothingReceived()
                        }
                    }
                }
            }
        },
    ]
}

extension ScriptedServer {
    /// Leads every name to this server.
    func everyName() throws -> Network.Configuration.Addresses.HostOverride {
        try .init(host: "*", port: Int(port), addresses: ["127.0.0.1"])
    }
}
