import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Pins apply to every request, on every connection.
    static let pinnedConnections: [ConformanceCheck] = [
        ConformanceCheck("Requests to a pinned server share its connection", needs: PinnedTrial.needs) { subject in
            let trial = try PinnedTrial(subject)
            let server = try trial.server()
            for scope in PinningPolicy.Scope.allCases {
                let client = try trial.client(trial.trust(trial.pins(.leaf), scope: scope))
                for _ in 1...3 { _ = try await client.success(trial.request(server.url())) }
            }
            try expectEqual(server.snapshot.accepted, 2, "connections")
        },
        ConformanceCheck("No resumed TLS session reaches a pinned server", needs: PinnedTrial.needs) { subject in
            let trial = try PinnedTrial(subject)
            for version in [ScriptedServer.Options.TLSVersion.v12, .v13] {
                var options = ScriptedServer.Options(tls: trial.certificates.server)
                options.maximumTLSVersion = version
                let server = try ScriptedServer.responding(options) { _ in
                    .ok("", headers: [("Connection", "close")]).then(.close)
                }
                for isPinned in [false, true] {
                    let client = try trial.client(isPinned ? trial.trust(trial.pins(.root)) : nil) {
                        $0.options.allowsEmptyBody = true
                    }
                    for _ in 1...3 { _ = try await client.success(trial.request(server.url())) }
                }
                let resumed = server.connections.map { $0.tls?.isResumed ?? false }
                try expectEqual(resumed, [false, true, true, false, false, false], "resumed with \(version)")
            }
        },
        ConformanceCheck(
            "A silent repeat on another connection reaches no impostor",
            needs: PinnedTrial.needs
        ) { subject in
            let trial = try PinnedTrial(subject)
            let certificates = trial.certificates
            let rogue = try certificates.identity(certificates.secondServer, presentingAlso: certificates.server)
            for impostor in [certificates.rotatedServer, rogue] {
                let server = try trial.serverThatDies(then: impostor)
                let client = try trial.client(trial.trust(trial.pins(.leaf)))
                let request = try HTTP.Request(url: server.url(), headers: [.authorization: "Bearer token"])
                _ = try await client.success(request)
                try await client.mismatch(request)
                let connections = try await server.sees("the end of both") { $0.accepted == 2 && $0.open == 0 }
                    .connections
                try expectEqual(connections.map(\.requests.count), [2, 0], "requests by connection")
                try expectEqual(connections[1].receivedCount, 0, "bytes that the impostor received")
                try expect(connections[1].handshake != .done, "The client finished a handshake: \(connections[1])")
            }
        },
        ConformanceCheck("A server that renegotiates as another gets no request", needs: PinnedTrial.needs) {
            // It may fail, or succeed on another connection.
            try expectEqual(
                await renegotiated($0, isGood: false).onFirst,
                1,
                "requests that the first connection received"
            )
        },
        ConformanceCheck(
            "A server that renegotiates as another of its authority gets no request",
            needs: PinnedTrial.needs
        ) {
            try expectEqual(
                await renegotiated($0, isGood: true, pinned: .leaf).onFirst,
                1,
                "requests that the first connection received"
            )
        },
        ConformanceCheck("A server that renegotiates as itself gets the next request", needs: PinnedTrial.needs) {
            _ = try await renegotiated($0, isGood: true).outcome.get()
        },
        ConformanceCheck("A server that renegotiates as itself keeps its connection", needs: PinnedTrial.needs) {
            try expectEqual(
                await renegotiated($0, isGood: true).onFirst,
                2,
                "requests that the first connection received"
            )
        },
        ConformanceCheck(
            "Pins hold over HTTP/2, where fetches share the connection",
            needs: PinnedTrial.needs.union([.http2])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let nginx = try NginxServer()
            try await nginx.start()
            let right = try trial.client(trial.trust(trial.pins(.root), for: "localhost"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...20 { group.addTask { _ = try await right.get(nginx.httpsURL("/json")) } }
                try await group.waitForAll()
            }
            let log = try await nginx.waitForLog { $0.count == 20 }
            try expectEqual(Set(log.map(\.connection)).count, 1, "connections")
            let wrong = try trial.client(trial.trust(trial.pins(.otherLeaf), for: "localhost"))
            try await wrong.mismatch(HTTP.Request(url: nginx.httpsURL("/text")))
            _ = try await right.get(nginx.httpsURL("/bytes/1k"))
            try expectEqual(try await nginx.waitForLog { $0.count > 20 }.count, 21, "requests")
            let impostor = try trial.server { $0.applicationProtocols = ["h2"] }
            let client = try trial.client(trial.trust(trial.pins(.otherLeaf)))
            try await client.mismatch(HTTP.Request(url: impostor.url()))
            try await impostor.expectNothingReceived()
        },
        ConformanceCheck(
            "Requests on a keep-alive connection fail once its policy expires",
            needs: PinnedTrial.needs
        ) { subject in
            let trial = try PinnedTrial(subject)
            let server = try trial.server()
            let now = Lock(Date(timeIntervalSince1970: 1_000_000))
            let date = now.withLock { $0 }
            let trust = try trial.trust(trial.pins(.leaf), expires: date)
            let client = try trial.client(trust) { $0.wallClock = { now.withLock { $0 } } }
            let request = try HTTP.Request(url: server.url())
            for _ in 1...2 { _ = try await client.success(request) }
            now.withLock { $0 = date + 1 }
            let expected = ServerTrustError.domainPolicyExpired(
                host: "127.0.0.1",
                domainName: "127.0.0.1",
                expirationDate: date
            )
            // The same request again, and another one with a body.
            for late in [request, try trial.request(server.url())] {
                try expectEqual(await client.distrust(late), expected, "the refusal of \(late.method)")
            }
            try expectEqual(server.requests.count, 2, "requests")
            now.withLock { $0 = date }
            _ = try await client.success(request)
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck(
            "An HTTPS proxy and its origin must each match their own keys",
            needs: PinnedTrial.needs.union([.proxies])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let certificates = trial.certificates
            let proxy = try TLSProxy(certificates.secondServer)
            try await proxy.start()
            let (right, wrong) = (try certificates.secondServer.publicKeyPins()[0], try trial.pins(.otherLeaf))
            func client(origin: Set<String>, proxy pins: Set<String>) throws -> BoundedClient {
                let policies = try [("127.0.0.1", origin), ("localhost", pins)].compactMap { host, pins in
                    try pins.isEmpty
                        ? nil : PinningPolicy(domainName: host, pinnedHashes: pins, enforceBackupPin: false)
                }
                let trust = try ServerTrustConfiguration(pinningPolicies: policies, allowNotPinnedDomains: true)
                let port = Int(proxy.port)
                let route = try Network.Proxy(.https, host: "localhost", port: port)
                return try trial.client(trust) { $0.proxies = .init(route) }
            }
            let leaf = try trial.pins(.leaf)
            let ways: [(Set<String>, Set<String>)] = [(leaf, []), (leaf, [right]), ([], [right])]
            for (origin, pins) in ways {
                let server = try trial.server()
                _ = try await client(origin: origin, proxy: pins).success(trial.request(server.url()))
                try expectEqual(server.requests.count, 1, "requests")
            }
            let tunnels = proxy.tunnels
            let impostor = try trial.server()
            let refused = try await client(origin: leaf, proxy: wrong).distrust(trial.request(impostor.url()))
            guard case .pinVerificationFailed("localhost", _) = refused else {
                throw ConformanceFailure("Expected the proxy to be refused, saw \(refused)")
            }
            _ = try await client(origin: [], proxy: wrong).mismatch(trial.request(impostor.url()))
            try expectEqual(proxy.tunnels, tunnels, "requested tunnels")
            try expectEqual(impostor.snapshot.accepted, 0, "connections")
            for pins in [[], [right]] as [Set<String>] {
                try await client(origin: wrong, proxy: pins).mismatch(trial.request(impostor.url()))
            }
            try await impostor.expectNothingReceived()
        },
    ]

    /// Fetches before and after a server has renegotiated on a kept connection, with a certificate of the same server or of
    /// another. Its key differs in any case; its intermediate's key differs only for another server.
    ///
    /// - Returns: The outcome of the second fetch, and how many requests the first connection received.
    private static func renegotiated(
        _ subject: ConformanceSubject,
        isGood: Bool,
        pinned: PinnedCertificate = .intermediate
    ) async throws -> (outcome: BoundedClient.Outcome, onFirst: Int) {
        let trial = try PinnedTrial(subject)
        let certificates = trial.certificates
        let identity =
            isGood
            ? certificates.rotatedServer
            : try certificates.identity(certificates.secondServer, presentingAlso: certificates.server)
        var options = ScriptedServer.Options(tls: certificates.server)
        options.maximumTLSVersion = .v12
        let answer = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let isAsked = Gate()
        let server = try ScriptedServer(options) { index in
            index > 0
                ? [.receiveHead, answer]
                : [
                    .receiveHead, answer, .run { try $0.renegotiate(as: identity) }, .open(isAsked), .receiveHead,
                    answer,
                ]
        }
        let client = try trial.client(trial.trust(trial.pins(pinned)))
        let request = try HTTP.Request(url: server.url(), headers: [.authorization: "Bearer token"])
        _ = try await client.success(request)
        try await isAsked.opened()
        let outcome = try await client.outcome(of: request)
        return (outcome, server.connections[0].requests.count)
    }
}
