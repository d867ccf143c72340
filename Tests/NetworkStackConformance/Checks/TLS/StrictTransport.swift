import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Hosts with an HSTS policy are reached over https only.
    static let strictTransport: [ConformanceCheck] = [
        ConformanceCheck("A host with an HSTS policy is not contacted in cleartext again", needs: needsRoots) {
            subject in
            let (server, client, hosts) = try strict(subject) { _ in .ok("x", headers: policy) }
            _ = try await client.get(server.url(host: "localhost"))
            try expectEqual(hosts.hosts.map(\.name), ["localhost"], "hosts")
            let fetched = try await client.get("http://localhost:\(server.port)/again")
            try expectEqual(fetched.response.url.scheme, "https", "the scheme of the response")
            try expectEqual(server.requests.map(\.path), ["/", "/again"], "paths")
        },
        ConformanceCheck("The first of two HSTS fields counts", needs: needsRoots) { subject in
            let second = [(name: "Strict-Transport-Security", value: "max-age=0")]
            let (server, client, hosts) = try strict(subject) { _ in .ok("x", headers: policy + second) }
            _ = try await client.get(server.url(host: "localhost"))
            try expectEqual(hosts.hosts.map(\.includesSubdomains), [true], "whether the policies include subdomains")
        },
        ConformanceCheck("An HSTS host's redirect to cleartext is followed over https", needs: needsRoots) { subject in
            let place = Lock("")
            let (server, client, _) = try strict(subject) { request in
                guard request.path == "/start" else { return .ok("there", headers: policy) }
                var reply = Reply.redirect(302, to: place.withLock { $0 })
                let field = policy.map { "\($0.name): \($0.value)\r\n" }.joined()
                reply.head.insert(contentsOf: Array(field.utf8), at: reply.head.count - 2)
                return reply
            }
            place.withLock { $0 = "http://localhost:\(server.port)/next" }
            let fetched = try await client.get(server.url("/start", host: "localhost"))
            try expectBytes(fetched.value, "there".utf8)
            try expectEqual(fetched.response.url.scheme, "https", "the scheme of the response")
        },
        ConformanceCheck("A known HSTS host receives no cleartext byte", needs: [.network]) { subject in
            // It closes at the first byte, which is one of a TLS handshake.
            let server = try ScriptedServer { _ in [.receive(1), .close] }
            let hosts = HTTP.StrictTransportHosts()
            hosts.note(.init(name: "localhost", expires: .distantFuture, includesSubdomains: false))
            let client = try subject.client { $0.strictTransport = hosts }
            let url = server.url("/secret", host: "localhost")
            if case .success = try await client.outcome(of: HTTP.Request(url: url)) {
                throw ConformanceFailure("A response in cleartext was accepted")
            }
            let connections = server.connections
            try expect(!connections.isEmpty, "The server received no connection")
            try expect(
                connections.allSatisfy { $0.received.first == 0x16 },
                "The first byte is not one of a TLS handshake"
            )
        },
        ConformanceCheck("An HSTS policy counts only over https", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { _ in .ok("x", headers: policy) }
            let hosts = HTTP.StrictTransportHosts()
            let client = try subject.client { $0.strictTransport = hosts }
            for _ in 1...2 { _ = try await client.get(server.url(host: "localhost")) }
            try expectEqual(hosts.hosts.count, 0, "hosts")
        },
        ConformanceCheck("Without a host list, an HSTS policy is ignored", needs: needsRoots) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in
                .ok("x", headers: policy)
            }
            let plain = try ScriptedServer.responding { _ in .ok("x") }
            let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
            _ = try await client.get(server.url(host: "localhost"))
            _ = try await client.get(plain.url(host: "localhost"))
            try expectEqual(plain.requests.count, 1, "cleartext requests")
        },
        ConformanceCheck("An HSTS policy of an unverified server is ignored", needs: needsRoots) {
            subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.untrusted)) { _ in
                .ok("x", headers: policy)
            }
            let hosts = HTTP.StrictTransportHosts()
            let client = try subject.client {
                $0.strictTransport = hosts
                $0.tls.verification = .disabledForTesting
            }
            _ = try await client.get(server.url(host: "localhost"))
            try expectEqual(hosts.hosts.count, 0, "hosts")
        },
    ]

    private static let needsRoots: Set<HTTP.Capability> = [.network, .customTrustRoots]

    private static let policy: [(name: String, value: String)] = [
        ("Strict-Transport-Security", "max-age=1000; includeSubDomains")
    ]

    private static func strict(
        _ subject: ConformanceSubject,
        _ answer: @escaping @Sendable (ReceivedRequest) throws -> Reply
    ) throws -> (ScriptedServer, BoundedClient, HTTP.StrictTransportHosts) {
        let certificates = try TestCertificates.shared()
        let server = try ScriptedServer.responding(.init(tls: certificates.server), with: answer)
        let hosts = HTTP.StrictTransportHosts()
        let client = try subject.client {
            $0.strictTransport = hosts
            $0.tls.trustRoots = .file(path: certificates.caFile)
        }
        return (server, client, hosts)
    }
}
