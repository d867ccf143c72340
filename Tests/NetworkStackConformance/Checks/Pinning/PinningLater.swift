import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Pins that take effect after connections, TLS sessions and tunnels were opened without them.
    static let pinnedLater: [ConformanceCheck] = [
        ConformanceCheck("Pins hold on a connection opened without them", needs: PinnedTrial.needs) { subject in
            for isRight in [true, false] {
                let late = try LatePins(subject, isRight ? .root : .otherLeaf)
                let server = try late.trial.server()
                let request = try late.trial.request(server.url())
                _ = try await late.client.success(request)
                late.enforce()
                if isRight {
                    _ = try await late.client.success(request)
                } else {
                    try await late.client.mismatch(request)
                }
                try expectEqual(server.requests.count, isRight ? 2 : 1, "requests")
                try expectEqual(server.snapshot.accepted, 1, "connections")
            }
        },
        ConformanceCheck("No TLS session begun without pins is resumed with them", needs: PinnedTrial.needs) {
            subject in
            for version in [ScriptedServer.Options.TLSVersion.v12, .v13] {
                let late = try LatePins(subject, .otherLeaf)
                var options = ScriptedServer.Options(tls: late.trial.certificates.server)
                options.maximumTLSVersion = version
                let server = try ScriptedServer.responding(options) { _ in
                    .ok("secret", headers: [("Connection", "close")]).then(.close)
                }
                let request = try late.trial.request(server.url())
                for _ in 1...2 { _ = try await late.client.success(request) }
                late.enforce()
                try await late.client.mismatch(request)
                let connections = try await server.sees("the end of all") { $0.accepted == 3 && $0.open == 0 }
                    .connections
                try expectEqual(connections[1].tls?.isResumed, true, "resumed without pins")
                try expect(connections[2].handshake != .done, "The client finished a handshake: \(connections[2])")
                try expectEqual(server.requests.count, 2, "requests")
            }
        },
        ConformanceCheck(
            "Pins hold for each stream of an HTTP/2 connection opened without them",
            needs: PinnedTrial.needs.union([.http2])
        ) { subject in
            let late = try LatePins(subject, .otherLeaf)
            var options = ScriptedServer.Options(tls: late.trial.certificates.server)
            options.applicationProtocols = ["h2"]
            let isShared = Gate()
            let server = try ScriptedServer(options) { _ in
                [.beginHTTP2, .answerStream, .receiveStream, .open(isShared), .answerStream, .waitForClose]
            }
            let request = try HTTP.Request(url: server.url(), headers: [.authorization: "Bearer token"])
            _ = try await late.client.success(request)
            let other = try late.client.stack.observe(server.url())
            try await isShared.opened()
            late.enforce()
            // On another connection it would fail in the handshake.
            try await late.client.mismatch(request)
            try expectEqual(server.snapshot.accepted, 1, "connections")
            other.cancel()
            _ = try await other.onlyOutcome()
        },
        ConformanceCheck("Pins hold for a redirect over a connection opened without them", needs: PinnedTrial.needs) {
            subject in
            let late = try LatePins(subject, .otherLeaf, for: "localhost")
            let target = try late.trial.server()
            let server = try ScriptedServer.responding(.init(tls: late.trial.certificates.server)) { _ in
                .redirect(to: target.url(host: "localhost"))
            }
            let request = try HTTP.Request(url: server.url())
            _ = try await late.client.success(request)
            late.enforce()
            try await late.client.mismatch(request)
            try expectEqual(server.requests.count, 2, "requests to the first host")
            try expectEqual(target.requests.count, 1, "requests to the second host")
            try expectEqual(target.snapshot.accepted, 1, "connections to the second host")
        },
        ConformanceCheck(
            "Pins hold in a proxy's tunnel opened without them",
            needs: PinnedTrial.needs.union([.proxies])
        ) { subject in
            let proxy = try TinyproxyServer()
            try await proxy.start()
            let late = try LatePins(subject, .otherLeaf) { try $0.use("http://127.0.0.1:\(proxy.port)") }
            let server = try late.trial.server()
            let request = try late.trial.request(server.url())
            _ = try await late.client.success(request)
            late.enforce()
            try await late.client.mismatch(request)
            try expectEqual(server.requests.count, 1, "requests")
            try expectEqual(server.snapshot.accepted, 1, "tunnels")
        },
        ConformanceCheck("A report-only policy reports the server of a silent repeat", needs: PinnedTrial.needs) {
            subject in
            let trial = try PinnedTrial(subject)
            let reports = Lock<[ServerTrustReport]>([])
            let server = try trial.serverThatDies(then: trial.certificates.rotatedServer)
            let client = try trial.client(trial.trust(trial.pins(.leaf), mode: .reportOnly)) {
                $0.serverTrustReporter = { report in reports.withLock { $0.append(report) } }
            }
            for _ in 1...2 { _ = try await client.success(HTTP.Request(url: server.url())) }
            try await eventually("a report") { reports.withLock { $0.count } == 1 }
            try await expectNoMore(reports)
            try expectEqual(server.connections.map(\.requests.count), [2, 1], "requests by connection")
        },
    ]
}

/// A policy that has expired, which is allowed, until the clock is set back: from then on its pins must match.
private struct LatePins {
    let trial: PinnedTrial
    let client: BoundedClient
    private let now: Lock<Date>
    private static let expiry = Date(timeIntervalSince1970: 1_000_000)

    init(
        _ subject: ConformanceSubject,
        _ certificate: PinnedCertificate,
        for host: String = "127.0.0.1",
        _ change: (inout Network.Configuration) throws -> Void = { _ in }
    ) throws {
        trial = try PinnedTrial(subject)
        let policy = try PinningPolicy(
            domainName: host,
            expirationDate: Self.expiry,
            pinnedHashes: trial.pins(certificate),
            enforceBackupPin: false
        )
        let trust = try ServerTrustConfiguration(
            pinningPolicies: [policy],
            allowNotPinnedDomains: true,
            allowExpiredDomainPolicies: true
        )
        let now = Lock(Self.expiry + 1)
        self.now = now
        client = try trial.client(trust) {
            $0.wallClock = { now.withLock { $0 } }
            try change(&$0)
        }
    }

    /// Sets the clock back.
    func enforce() { now.withLock { $0 = Self.expiry } }
}
