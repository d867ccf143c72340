import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Whoever cannot prove to be the host that was asked for gets nothing.
    static let tls: [ConformanceCheck] = trustedServers + untrustedServers + certificateNames

    private static let needsRoots: Set<HTTP.Capability> = [.network, .customTrustRoots]

    private static let trustedServers: [ConformanceCheck] = [
        ConformanceCheck("A server that a given authority vouches for is trusted", needs: needsRoots) { subject in
            let (server, client) = try secure(subject, \.server)
            try expectBytes(await client.get(server.url()).value, "secret".utf8)
            try expectEqual(server.connections.first?.handshake, .done, "the handshake")
        },
        ConformanceCheck("Authorities can be given as text", needs: needsRoots) { subject in
            let certificates = try TestCertificates.shared()
            let pem = try Data(contentsOf: URL(filePath: certificates.caFile))
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secret") }
            let client = try subject.client { $0.tls.trustRoots = .pem(pem) }
            try expectBytes(await client.get(server.url()).value, "secret".utf8)
        },
        ConformanceCheck("Authorities are read once, when the stack is made", needs: needsRoots) { subject in
            let certificates = try TestCertificates.shared()
            let folder = try TemporaryDirectory("authorities")
            let file = URL(filePath: folder.file("ca.pem"))
            try Data(contentsOf: URL(filePath: certificates.caFile)).write(to: file)
            var options = ScriptedServer.Options(tls: certificates.server)
            options.identityForConnection = { $0 < 2 ? nil : certificates.secondServer }
            let server = try ScriptedServer.responding(options) { _ in
                .ok("secret", headers: [("Connection", "close")]).then(.close)
            }
            let client = try subject.client { $0.tls.trustRoots = .file(path: file.path) }
            try Data(contentsOf: URL(filePath: certificates.secondCAFile)).write(to: file)
            for _ in 1...2 { try expectBytes(await client.get(server.url()).value, "secret".utf8) }
            _ = try await client.breakdown(HTTP.Request(url: server.url()))
            try expectEqual(server.requests.count, 2, "requests")
        },
        ConformanceCheck("Several authorities in one file all count", needs: needsRoots) { subject in
            let certificates = try TestCertificates.shared()
            let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.bothRootsFile) }
            for identity in [certificates.server, certificates.secondServer] {
                let server = try ScriptedServer.responding(.init(tls: identity)) { _ in .ok("secret") }
                try expectBytes(await client.get(server.url()).value, "secret".utf8)
            }
        },
        ConformanceCheck("A server is found by its name, which SNI tells it", needs: needsRoots) { subject in
            let (server, client) = try secure(subject, \.server)
            _ = try await client.get(server.url(host: "localhost"))
            try expectEqual(server.connections.first?.tls?.serverName, "localhost", "the name in SNI")
            try expectEqual(server.requests.first?.values(of: "Host"), ["localhost:\(server.port)"], "Host")
        },
        ConformanceCheck("An address is no name for SNI", needs: needsRoots) { subject in
            let (server, client) = try secure(subject, \.server)
            _ = try await client.get(server.url())
            try expectEqual(server.connections.first?.tls?.serverName, nil, "the name in SNI")
        },
        ConformanceCheck("TLS 1.2 is spoken with a server that has nothing newer", needs: needsRoots) { subject in
            let certificates = try TestCertificates.shared()
            var options = ScriptedServer.Options(tls: certificates.server)
            options.maximumTLSVersion = .v12
            let server = try ScriptedServer.responding(options) { _ in .ok("secret") }
            let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
            _ = try await client.get(server.url())
            try expectEqual(server.connections.first?.tls?.version, "TLSv1.2", "the version")
        },
        ConformanceCheck("Content goes both ways over TLS byte for byte", needs: needsRoots) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { .ok(bytes: $0.body) }
            let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
            let content = patternBytes(1_000_003)
            for _ in 1...2 {
                let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(content))
                try expectBytes(await client.success(request).value, content)
            }
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck("A stack's trust is its own, whatever another trusts", needs: needsRoots) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secret") }
            let trusting = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
            let other = try subject.client { $0.tls.trustRoots = .file(path: certificates.secondCAFile) }
            for _ in 1...2 {
                _ = try await trusting.get(server.url())
                _ = try await other.breakdown(HTTP.Request(url: server.url()))
            }
            try expectEqual(server.requests.count, 2, "requests")
        },
        ConformanceCheck("Trust roots that cannot be read are refused, not ignored", needs: needsRoots) { subject in
            let (server, _) = try secure(subject, \.server)
            let good = try String(
                decoding: Data(contentsOf: URL(filePath: TestCertificates.shared().caFile)),
                as: UTF8.self
            )
            let broken: [Network.TLSConfiguration.TrustRoots] = [
                .file(path: "/nonexistent.pem"), .pem(Data("no certificate".utf8)), .pem(Data()),
                .pem(Data((good + good.replacing("\nMII", with: "\nMIJ")).utf8)),
            ]
            for roots in broken {
                let client: BoundedClient
                do { client = try subject.client { $0.tls.trustRoots = roots } } catch { continue }
                _ = try await client.failure(HTTP.Request(url: server.url()))
            }
            try expectEqual(server.requests.count, 0, "requests")
        },
        ConformanceCheck(
            "Content whose TLS connection was cut off is not whole",
            needs: needsRoots.union([.strictReplies])
        ) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer(.init(tls: certificates.server)) { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\n\r\nhalf of it"), .closeWithoutNotify]
            }
            let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
            _ = try await client.breakdown(HTTP.Request(url: server.url()))
        },
        ConformanceCheck("Content that the orderly end of its TLS connection ends is whole", needs: needsRoots) {
            subject in
            let certificates = try TestCertificates.shared()
            for version in [ScriptedServer.Options.TLSVersion.v12, .v13] {
                var options = ScriptedServer.Options(tls: certificates.server)
                options.maximumTLSVersion = version
                let server = try ScriptedServer(options) { _ in
                    [.receiveHead, .send("HTTP/1.1 200 OK\r\n\r\nall of it"), .close]
                }
                let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
                try expectBytes(await client.get(server.url()).value, "all of it".utf8)
            }
        },
        ConformanceCheck("A head cut short over TLS fails", needs: needsRoots.union([.strictReplies])) { subject in
            let certificates = try TestCertificates.shared()
            let heads = ["HTTP/1.1 20", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"]
            for head in heads {
                for end in [ScriptedServer.Step.close, .closeWithoutNotify, .reset] {
                    let server = try ScriptedServer(.init(tls: certificates.server)) { _ in
                        [.receiveHead, .send(head), end]
                    }
                    let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
                    _ = try await client.breakdown(HTTP.Request(url: server.url()))
                }
            }
        },
        ConformanceCheck(
            "Content of known length is whole even if its TLS connection was cut off after it",
            needs: needsRoots
        ) {
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer(.init(tls: certificates.server)) { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"), .closeWithoutNotify]
            }
            let client = try $0.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
            try expectBytes(await client.get(server.url()).value, "secret".utf8)
        },
    ]

    private static let untrustedServers: [ConformanceCheck] = [
        untrusted("of an unknown authority", \.untrusted),
        untrusted("whose certificate has expired", \.expired),
        untrusted("whose certificate is for another host", \.wrongHost),
        untrusted("whose certificate is for another host, found by its name", \.wrongHost, host: "localhost"),
        ConformanceCheck("What is wrong with a certificate is told apart", needs: needsRoots.union([.tlsFailureDetail]))
        { subject in
            var seen: [String] = []
            let certificates = try TestCertificates.shared()
            for identity in [certificates.untrusted, certificates.expired, certificates.wrongHost] {
                let (server, client) = try secure(subject) { _ in identity }
                let error = try await client.breakdown(HTTP.Request(url: server.url()))
                seen.append("\(error.map { "\($0)" } ?? "no error")".replacing("\(server.port)", with: "").lowercased())
            }
            let words = [["issuer", "self-signed", "self signed"], ["expired"], ["match", "mismatch"]]
            for (text, words) in zip(seen, words) {
                try expect(words.contains { text.contains($0) }, "\(text) says none of \(words)")
            }
            try expectEqual(Set(seen).count, 3, "different descriptions")
        },
        ConformanceCheck("A server that the system does not know gets no request", needs: [.network]) { subject in
            let certificates = try TestCertificates.shared()
            for identity in [certificates.server, certificates.untrusted] {
                let server = try ScriptedServer.responding(.init(tls: identity)) { _ in .ok("secret") }
                let request = try HTTP.Request(
                    method: .POST,
                    url: server.url(),
                    headers: [.authorization: "Bearer t"],
                    body: .bytes(Data("s".utf8))
                )
                _ = try await subject.client().breakdown(request)
                try expectEqual(server.requests.count, 0, "requests")
                try expectEqual(
                    server.connections.map(\.receivedCount).reduce(0, +),
                    0,
                    "bytes received after the handshake"
                )
            }
        },
        ConformanceCheck("A server that answers https in the clear is a failed transfer", needs: [.network]) {
            subject in
            let server = try ScriptedServer { _ in
                [.run { _ = try $0.receiveSome() }, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain"), .close]
            }
            let url = server.url().replacing("http:", with: "https:")
            _ = try await subject.client().breakdown(HTTP.Request(url: url))
            try expectEqual(server.requests.count, 0, "requests")
        },
        ConformanceCheck("A server that answers http with TLS is a failure", needs: [.network]) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secret") }
            _ = try await subject.client().failure(HTTP.Request(url: server.url().replacing("https:", with: "http:")))
            try expectEqual(server.requests.count, 0, "requests")
        },
        ConformanceCheck(
            "A server that ends the connection during the handshake is a failed transfer",
            needs: [.network]
        ) { subject in
            let server = try ScriptedServer { _ in [.run { _ = try $0.receiveSome() }, .close] }
            let url = server.url().replacing("http:", with: "https:")
            _ = try await subject.client().breakdown(HTTP.Request(url: url))
        },
    ]

    private static func untrusted(
        _ what: String,
        _ identity: @escaping @Sendable (TestCertificates) -> TLSIdentity,
        host: String? = nil
    ) -> ConformanceCheck {
        ConformanceCheck("A server \(what) gets no request", needs: needsRoots) { subject in
            let (server, client) = try secure(subject, identity)
            let request = try HTTP.Request(
                method: .POST,
                url: server.url(host: host),
                headers: [.authorization: "Bearer t"],
                body: .bytes(Data("s".utf8))
            )
            let error = try await client.breakdown(request)
            try expectEqual(
                (error as? any HTTPTransportError)?.kind,
                .tls,
                "the kind of \(error.map { "\($0)" } ?? "nothing")"
            )
            try await server.waitUntil { $0.open == 0 }
            try expectEqual(server.requests.count, 0, "requests")
            try expectEqual(
                server.connections.map(\.receivedCount).reduce(0, +),
                0,
                "bytes received after the handshake"
            )
        }
    }

    private static func secure(
        _ subject: ConformanceSubject,
        _ identity: (TestCertificates) -> TLSIdentity
    ) throws -> (ScriptedServer, BoundedClient) {
        let certificates = try TestCertificates.shared()
        let server = try ScriptedServer.responding(.init(tls: identity(certificates))) { _ in .ok("secret") }
        return (server, try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) })
    }
}
