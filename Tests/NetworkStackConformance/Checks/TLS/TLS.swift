import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// A server that cannot prove its identity gets no request.
    static let tls: [ConformanceCheck] =
        trustedServers + untrustedServers + certificateNames.resting(on: .rfc(9525, "2"))

    private static let needsRoots: Set<HTTP.Capability> = [.network, .customTrustRoots]

    private static let trustedServers: [ConformanceCheck] = [
        ConformanceCheck("A server signed by a given authority is trusted", needs: needsRoots) { subject in
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
        ConformanceCheck("All authorities in one file count", needs: needsRoots) { subject in
            let certificates = try TestCertificates.shared()
            let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.bothRootsFile) }
            for identity in [certificates.server, certificates.secondServer] {
                let server = try ScriptedServer.responding(.init(tls: identity)) { _ in .ok("secret") }
                try expectBytes(await client.get(server.url()).value, "secret".utf8)
            }
        },
        ConformanceCheck("SNI sends the server's name", needs: needsRoots, rests: [.rfc(6066, "3")]) { subject in
            let (server, client) = try secure(subject, \.server)
            _ = try await client.get(server.url(host: "localhost"))
            try expectEqual(server.connections.first?.tls?.serverName, "localhost", "the name in SNI")
            try expectEqual(server.requests.first?.values(of: "Host"), ["localhost:\(server.port)"], "Host")
        },
        ConformanceCheck("SNI sends no address", needs: needsRoots, rests: [.rfc(6066, "3")]) { subject in
            let (server, client) = try secure(subject, \.server)
            _ = try await client.get(server.url())
            try expectEqual(server.connections.first?.tls?.serverName, nil, "the name in SNI")
        },
        ConformanceCheck("TLS 1.2 is used with a server that has nothing newer", needs: needsRoots) { subject in
            let certificates = try TestCertificates.shared()
            var options = ScriptedServer.Options(tls: certificates.server)
            options.maximumTLSVersion = .v12
            let server = try ScriptedServer.responding(options) { _ in .ok("secret") }
            let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
            _ = try await client.get(server.url())
            try expectEqual(server.connections.first?.tls?.version, "TLSv1.2", "the version")
        },
        ConformanceCheck("Bodies travel both ways over TLS byte for byte", needs: needsRoots) { subject in
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
        ConformanceCheck("Each stack has separate trust roots", needs: needsRoots) { subject in
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
        ConformanceCheck("Unreadable trust roots are refused, not ignored", needs: needsRoots) { subject in
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
            "A body ended by a truncated TLS connection fails",
            needs: needsRoots.union([.strictReplies])
        ) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer(.init(tls: certificates.server)) { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\n\r\nhalf of it"), .closeWithoutNotify]
            }
            let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
            _ = try await client.breakdown(HTTP.Request(url: server.url()))
        },
        ConformanceCheck("A body ended by close_notify is whole", needs: needsRoots) {
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
        ConformanceCheck("A head truncated over TLS fails", needs: needsRoots.union([.strictReplies])) { subject in
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
            "A body of known length is whole despite a missing close_notify",
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
        untrusted("whose certificate is for another name", \.wrongHost, host: "localhost"),
        ConformanceCheck(
            "Different certificate faults have different reasons",
            needs: needsRoots.union([.tlsFailureDetail])
        ) { subject in
            var seen: [String] = []
            let certificates = try TestCertificates.shared()
            for identity in [certificates.untrusted, certificates.expired, certificates.wrongHost] {
                let (server, client) = try secure(subject) { _ in identity }
                let error = try await client.breakdown(HTTP.Request(url: server.url()))
                seen.append("\(error.map { "\($0)" } ?? "no error")".replacing("\(server.port)", with: "").lowercased())
            }
            let words = [["issuer", "self-signed", "self signed"], ["expired"], ["match", "mismatch"]]
            for (text, words) in zip(seen, words) {
                try expect(words.contains { text.contains($0) }, "The error names none of \(words): \(text)")
            }
            try expectEqual(Set(seen).count, 3, "different descriptions")
        },
        ConformanceCheck("A server unknown to the system's roots gets no request", needs: [.network]) { subject in
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
        ConformanceCheck("A cleartext answer to an https request fails the transfer", needs: [.network]) {
            subject in
            let server = try ScriptedServer { _ in
                [.run { _ = try $0.receiveSome() }, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain"), .close]
            }
            let url = server.url().replacing("http:", with: "https:")
            _ = try await subject.client().breakdown(HTTP.Request(url: url))
            try expectEqual(server.requests.count, 0, "requests")
        },
        ConformanceCheck("A TLS server on an http URL is a failure", needs: [.network]) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secret") }
            _ = try await subject.client().failure(HTTP.Request(url: server.url().replacing("https:", with: "http:")))
            try expectEqual(server.requests.count, 0, "requests")
        },
        ConformanceCheck(
            "A connection closed during the handshake is a failed transfer",
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
