import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// No byte is sent to a server without the pinned keys. Every route is tested twice: with the right pin,
    /// which must pass, and with a wrong one.
    static let pinning: [ConformanceCheck] =
        pinnedChains + pinnedImpostors + pinnedConnections + pinnedHosts + pinnedRoutes + pinnedReports
        + pinnedProxies + pinnedLater

    /// The certificates that a pin may belong to.
    private static let pinnedChains: [ConformanceCheck] =
        [
            pinned("the server's certificate", .leaf),
            pinned("an intermediate", .intermediate),
            pinned("an unsent root", .root),
        ]
        + KeyKind.allCases.map { kind in
            ConformanceCheck("A pinned key may be of kind \(kind)", needs: PinnedTrial.needs) { subject in
                let trial = try PinnedTrial(subject)
                let identity = try trial.certificates.issue(for: TestCertificates.serverNames, key: kind)
                let server = try trial.server(identity)
                let right = try trial.client(trial.trust([identity.publicKeyPins()[0]], scope: .leaf))
                _ = try await right.success(trial.request(server.url()))
                let impostor = try trial.server(identity)
                let wrong = try trial.client(trial.trust(trial.pins(.leaf), scope: .leaf))
                try await wrong.mismatch(trial.request(impostor.url()))
                try await impostor.expectNothingReceived()
            }
        } + [
            ConformanceCheck("Any one of several pins suffices, in any order and spelling", needs: PinnedTrial.needs) {
                subject in
                let trial = try PinnedTrial(subject)
                let leaf = try trial.pins(.leaf).first ?? ""
                for pins: Set<String> in [
                    [leaf, try trial.pins(.otherRoot).first ?? ""], ["sha256/" + leaf], ["sha256//" + leaf, leaf],
                ] {
                    for scope in PinningPolicy.Scope.allCases {
                        let server = try trial.server()
                        _ = try await trial.client(trial.trust(pins, scope: scope)).success(trial.request(server.url()))
                    }
                }
            },
            ConformanceCheck("A leaf policy rejects an authority's key", needs: PinnedTrial.needs) { subject in
                let trial = try PinnedTrial(subject)
                let server = try trial.server()
                let right = try trial.client(trial.trust(trial.pins(.leaf, .root), scope: .leaf))
                _ = try await right.success(trial.request(server.url()))
                for certificate in [PinnedCertificate.intermediate, .root] {
                    let impostor = try trial.server()
                    let wrong = try trial.client(trial.trust(trial.pins(certificate), scope: .leaf))
                    try await wrong.mismatch(trial.request(impostor.url()))
                    try await impostor.expectNothingReceived()
                }
            },
            ConformanceCheck(
                "A root's pin matches although the trusted bundle holds the intermediate",
                needs: PinnedTrial.needs
            ) {
                subject in
                let trial = try PinnedTrial(subject)
                let server = try trial.server()
                let client = try trial.client(trial.trust(trial.pins(.root))) {
                    $0.tls.trustRoots = .file(path: trial.certificates.caFileWithIntermediate)
                }
                _ = try await client.success(trial.request(server.url()))
            },
            ConformanceCheck(
                "The response lists the server's keys and the pin that matched",
                needs: PinnedTrial.needs.union([.serverPins])
            ) { subject in
                let trial = try PinnedTrial(subject)
                let server = try trial.server()
                let pins = try [.leaf, .intermediate, .root].map {
                    try PublicKeyPin(trial.pins($0).first ?? "")
                }
                var options = HTTP.Options()
                options.collectsServerPins = true
                for _ in 1...2 {
                    let unpinned = try trial.client(nil)
                    let fetched = try await unpinned.success(HTTP.Request(url: server.url()), options: options)
                    try expectEqual(fetched.response.metrics.serverPins, pins.compactMap(\.self), "the server's keys")
                    try expectEqual(fetched.response.metrics.matchedPin, nil, "the match")
                }
                for (order, expected) in [
                    (ServerTrustConfiguration.CertificateCheckingOrder.leafToRoot, pins[0]), (.rootToLeaf, pins[2]),
                ] {
                    let policy = try PinningPolicy(domainName: "127.0.0.1", pinnedHashes: trial.pins(.leaf, .root))
                    let trust = try ServerTrustConfiguration(pinningPolicies: [policy], certificateCheckingOrder: order)
                    let fetched = try await trial.client(trust).get(server.url())
                    try expectEqual(fetched.response.metrics.serverPins, pins.compactMap(\.self), "the server's keys")
                    try expectEqual(fetched.response.metrics.matchedPin, expected, "the match")
                }
            },
            ConformanceCheck(
                "A response lists the keys of its own server and connection",
                needs: PinnedTrial.needs.union([.serverPins])
            ) { subject in
                let trial = try PinnedTrial(subject)
                let certificates = trial.certificates
                let (first, later) = (certificates.server, certificates.secondServer)
                var options = ScriptedServer.Options(tls: first)
                options.identityForConnection = { $0 == 0 ? nil : later }
                let closing = try ScriptedServer.responding(options) { _ in
                    .ok("x", headers: [("Connection", "close")]).then(.close)
                }
                let other = try trial.server(certificates.rotatedServer)
                let client = try trial.client(nil) { $0.options.collectsServerPins = true }
                for (server, identity, root) in [
                    (closing, first, certificates.caFile), (other, certificates.rotatedServer, certificates.caFile),
                    (closing, later, certificates.secondCAFile),
                    (other, certificates.rotatedServer, certificates.caFile),
                    (closing, later, certificates.secondCAFile),
                ] {
                    let seen = try await client.get(server.url()).response.metrics.serverPins
                    let keys = try identity.publicKeyPins() + TLSIdentity.publicKeyPins(inFile: root)
                    try expectEqual(seen?.map(\.base64), keys, "the server's keys")
                }
                try expectEqual([closing, other].map(\.snapshot.accepted), [3, 1], "connections")
            },
        ]

    private static func pinned(_ what: String, _ certificate: PinnedCertificate) -> ConformanceCheck {
        ConformanceCheck("A pin of \(what) admits its server and no other", needs: PinnedTrial.needs) { subject in
            let trial = try PinnedTrial(subject)
            for version in [ScriptedServer.Options.TLSVersion.v12, .v13] {
                let server = try trial.server { $0.maximumTLSVersion = version }
                _ = try await trial.client(trial.trust(trial.pins(certificate))).success(trial.request(server.url()))
                let impostor = try trial.server { $0.maximumTLSVersion = version }
                let wrong = try trial.client(trial.trust(trial.pins(.otherRoot, .otherLeaf)))
                let chain = try await wrong.mismatch(trial.request(impostor.url()))
                let keys = try trial.pins(.leaf, .intermediate, .root)
                try expectEqual(Set(chain.map(\.base64)), keys, "the keys of the chain")
                try await impostor.expectNothingReceived()
            }
        }
    }
}
