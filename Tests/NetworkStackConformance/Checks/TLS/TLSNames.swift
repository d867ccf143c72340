import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// A name only in a certificate's subject names no host (RFC 9525 section 2).
    static let certificateNames: [ConformanceCheck] = [
        ConformanceCheck("A host named only in the certificate's subject gets no request", needs: needsNames) {
            subject in
            for host in ["127.0.0.1", "localhost"] {
                let (server, url) = try serverNamedInSubject(host)
                let client = try subject.client { try trustRoot(&$0) }
                let error = try await client.breakdown(request(url))
                let kind = (error as? any HTTPTransportError)?.kind
                try expectEqual(kind, .tls, "the kind of \(error.map { "\($0)" } ?? "nothing")")
                try await server.expectNothingReceived()
            }
        },
        ConformanceCheck(
            "A proxy named only in its certificate's subject gets no request",
            needs: needsNames.union([.proxies])
        ) { subject in
            let proxy = try TLSProxy(TestCertificates.shared().issue(namedInSubject: "localhost"))
            try await proxy.start()
            let server = try ScriptedServer.responding { _ in .ok("secret") }
            let client = try subject.client {
                try trustRoot(&$0)
                $0.proxies = .init(try Network.Proxy(.https, host: "localhost", port: Int(proxy.port)))
            }
            _ = try await client.breakdown(request(server.url()))
            try expectEqual(proxy.tunnels, 0, "requested tunnels")
            try expectEqual(server.snapshot.accepted, 0, "connections")
        },
        ConformanceCheck("A subject-only name is accepted if the configuration allows it", needs: needsNames) {
            subject in
            for host in ["127.0.0.1", "localhost"] {
                let url = try serverNamedInSubject(host)
                let client = try subject.client {
                    try trustRoot(&$0)
                    $0.tls.acceptsCommonNames = true
                }
                try expectBytes(await client.success(request(url.1)).value, "secret".utf8)
            }
        },
        ConformanceCheck("A stack that accepts subject-only names makes no other stack accept them", needs: needsNames)
        {
            subject in
            for host in ["127.0.0.1", "localhost"] {
                for begins in [true, false] {
                    let (server, url) = try serverNamedInSubject(host)
                    let clients = try [true, false].map { accepts in
                        try subject.client {
                            try trustRoot(&$0)
                            $0.tls.acceptsCommonNames = accepts
                        }
                    }
                    for accepts in [begins, !begins, begins, !begins] {
                        if accepts {
                            try expectBytes(await clients[0].success(request(url)).value, "secret".utf8)
                        } else {
                            let error = try await clients[1].breakdown(request(url))
                            let kind = (error as? any HTTPTransportError)?.kind
                            try expectEqual(kind, .tls, "the kind of \(error.map { "\($0)" } ?? "nothing")")
                        }
                    }
                    try expectEqual(server.requests.count, 2, "requests, of which the strict stack sent none")
                }
            }
        },
        ConformanceCheck(
            "A pinned host with a subject-only name is always refused",
            needs: PinnedTrial.needs
        ) { subject in
            let trial = try PinnedTrial(subject)
            for host in ["127.0.0.1", "localhost"] {
                let identity = try trial.certificates.issue(namedInSubject: host)
                let server = try trial.server(identity)
                for scope in PinningPolicy.Scope.allCases {
                    let trust = try trial.trust([identity.publicKeyPins()[0]], for: host, scope: scope)
                    let client = try trial.client(trust) { $0.tls.acceptsCommonNames = true }
                    try await client.unverified(trial.request(server.url(host: host)))
                }
                try await server.expectNothingReceived()
            }
        },
    ]

    private static let needsNames: Set<HTTP.Capability> = [.network, .customTrustRoots, .alternativeNames]

    private static func trustRoot(_ configuration: inout Network.Configuration) throws {
        configuration.tls.trustRoots = .file(path: try TestCertificates.shared().caFile)
    }

    private static func serverNamedInSubject(_ host: String) throws -> (ScriptedServer, url: String) {
        let identity = try TestCertificates.shared().issue(namedInSubject: host)
        let server = try ScriptedServer.responding(.init(tls: identity)) { _ in .ok("secret") }
        return (server, server.url(host: host))
    }

    private static func request(_ url: String) throws -> HTTP.Request {
        try HTTP.Request(method: .POST, url: url, headers: [.authorization: "Bearer t"], body: .bytes(Data("s".utf8)))
    }
}
