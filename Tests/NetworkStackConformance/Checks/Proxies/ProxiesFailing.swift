import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Proxies that refuse, fail or are unreachable: each is a typed failure of the proxy, not of the origin.
    static let failingProxies: [ConformanceCheck] =
        [
            refusedTunnel("403 Forbidden", 403), refusedTunnel("407 Proxy Authentication Required", 407),
            refusedTunnel("502 Bad Gateway", 502), refusedTunnel("302 Found", 302),
            endlessRefusal(403), endlessRefusal(407), endlessRefusalOnReconnect, brokenTunnel("closes at once", []),
            brokenTunnel("closes after CONNECT", [.receiveHead]),
            brokenTunnel("answers CONNECT with random bytes", [.receiveHead, .send("garbage\r\n\r\n")]),
            brokenTunnel("ends within its response", [.receiveHead, .send("HTTP/1.1 200 Connec")]), oddTunnel,
            alertedByProxy("1.2", .v12, "handshake_failure"), alertedByProxy("1.3", .v13, "certificate_required"),
            ConformanceCheck("A squid that requires a password answers 407 without it", needs: needsProxies) {
                subject in
                var options = SquidServer.Options()
                options.credentials = ("user", "pass")
                let squid = try SquidServer(options)
                try await squid.start()
                for credentials in ["", "user:wrong@"] {
                    let client = try subject.client { try $0.use("http://\(credentials)127.0.0.1:\(squid.port)") }
                    let tunnel = try await client.proxyFailure(HTTP.Request(url: "https://localhost:1/"))
                    try expectEqual(tunnel.proxyStatus, .proxyAuthenticationRequired, "the tunnel's status")
                    // In absolute form, the proxy's response is an ordinary response.
                    let (status, _, _) = try await client.unsuccessful(HTTP.Request(url: "http://localhost:1/"))
                    try expectEqual(status, .proxyAuthenticationRequired, "the response's status")
                }
            },
            ConformanceCheck(
                "An unreachable proxy is a proxy failure, and safe to retry",
                needs: needsProxies
            ) {
                subject in
                let closed = try ClosedPort.reserve()
                for scheme in ["http", "https", "socks5", "socks5h", "socks4a"] {
                    let client = try subject.client { try $0.use("\(scheme)://127.0.0.1:\(closed.port)") }
                    for url in ["http://origin.test/", "https://origin.test/"] {
                        let request = try HTTP.Request(url: url)
                        let error = try await client.failure(request)
                        try Outcome.failure(error).expectFailure(.proxy)
                        try expect(error.isRetryable, "isRetryable is false for \(error)")
                    }
                }
            },
            ConformanceCheck("A proxy whose name does not exist is a proxy failure", needs: needsProxies) {
                subject in
                let client = try subject.client { try $0.use("http://does-not-exist.invalid:1") }
                _ = try await client.proxyFailure(HTTP.Request(url: "http://origin.test/"))
            },
            ConformanceCheck("A proxy that never answers CONNECT trips the connect timeout", needs: needsProxies) {
                subject,
                scale in
                let proxy = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
                let client = try subject.client { configuration in
                    try configuration.use("http://\(proxy.authority)")
                    configuration.options.timeouts.connect = .milliseconds(200) * scale
                }
                try await client.outcome(of: HTTP.Request(url: "https://origin.test/"))
                    .expectTimeout(.connect, during: [.connecting, .securing])
                try await proxy.waitUntil { $0.open == 0 }
            },
            ConformanceCheck("A cancel during CONNECT ends the fetch and the tunnel at once", needs: needsProxies) {
                subject in
                let proxy = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
                let stack = try subject.stack { try $0.use("http://\(proxy.authority)") }
                let observation = try stack.observe("https://origin.test/")
                try await proxy.sees("CONNECT") { $0.requests.count == 1 }
                observation.cancel()
                try await observation.onlyOutcome().expectCancelled()
                try await proxy.sees("the close") { $0.open == 0 }
            },
            ConformanceCheck(
                "A proxy connection that dies between requests does not fail the second",
                needs: needsProxies
            ) {
                subject in
                let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                let proxy = try ScriptedServer { index in
                    index == 0
                        ? [.receiveHead, .send(reply), .receiveHead, .close]
                        : [.receiveHead, .send(reply), .waitForClose]
                }
                let client = try subject.client { try $0.use("http://\(proxy.authority)") }
                for _ in 1...2 { try expectBytes(await client.get("http://origin.test/").value, "ok".utf8) }
            },
            ConformanceCheck(
                "An untrusted HTTPS proxy gets no request",
                needs: needsProxies.union([.customTrustRoots])
            ) { subject in
                let certificates = try TestCertificates.shared()
                let proxy = try ScriptedServer.responding(.init(tls: certificates.untrusted)) { _ in .ok("done") }
                for url in ["http://origin.test/", "https://origin.test/"] {
                    let client = try subject.client { configuration in
                        configuration.tls.trustRoots = .file(path: certificates.caFile)
                        try configuration.use("https://user:secret@localhost:\(proxy.port)")
                    }
                    _ = try await client.failure(HTTP.Request(url: url))
                }
                try expectEqual(proxy.requests.count, 0, "requests")
            },
        ]

    /// Nothing may be sent to an origin through what is no tunnel.
    private static let oddTunnel =
        ConformanceCheck("A proxy that answers CONNECT with HTTP/3.7 is a proxy failure", needs: needsProxies) {
            subject in
            let proxy = try ScriptedServer { _ in [.receiveHead, .send("HTTP/3.7 200 OK\r\n\r\n"), .waitForClose] }
            let client = try subject.client { try $0.use("http://\(proxy.authority)") }
            _ = try await client.proxyFailure(HTTP.Request(url: "https://origin.test/"))
            let connection = try await proxy.sees("the close") { $0.accepted == 1 && $0.open == 0 }.connections[0]
            try expect(connection.receivedText.hasSuffix("\r\n\r\n"), "Bytes were sent through the tunnel")
        }

    /// A proxy is shown no certificate, and asks in vain again.
    private static func alertedByProxy(
        _ number: String,
        _ version: ScriptedServer.Options.TLSVersion,
        _ alert: String
    ) -> ConformanceCheck {
        ConformanceCheck(
            "A proxy's TLS \(number) alert ends the fetch, and is not transient",
            needs: needsProxies.union([.customTrustRoots, .clientCertificates, .tlsFailureDetail])
        ) { subject in
            let trial = try PinnedTrial(subject)
            for url in ["http://origin.test/", "https://origin.test/"] {
                let proxy = try trial.server { ($0.clientCertificate, $0.maximumTLSVersion) = (.required, version) }
                let client = try trial.client(nil) { try $0.use("https://localhost:\(proxy.port)") }
                let error = try await client.failure(HTTP.Request(url: url))
                try expect("\(error)".contains(alert), "the error of \(url) does not name \(alert): \(error)")
                try expect(!error.isTransient, "isTransient is true for \(url): \(error)")
                try expectEqual(proxy.requests.count, 0, "requests")
            }
        }
    }

    /// The tunnel of a kept connection has died, and libcurl asks for another by itself.
    private static let endlessRefusalOnReconnect =
        ConformanceCheck("An endless 407 for the next tunnel delays no other fetch", needs: needsProxies) { subject in
            let (isOver, sent) = (Lock(false), Gate())
            let proxy = try ScriptedServer { index in
                index == 0
                    ? [
                        .receiveHead, .send("HTTP/1.1 200 OK\r\n\r\n"),
                        .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .receiveHead, .close,
                    ] : endless(407, until: isOver, sent)
            }
            defer { isOver.withLock { $0 = true } }
            let origin = try ScriptedServer.responding { _ in .ok("other") }
            let client = try subject.client { configuration in
                var route = try Network.Proxy("http://\(proxy.authority)")
                route.tunnelsHTTP = true
                configuration.proxies = .init(http: route, https: nil, except: try .init("127.0.0.1"))
            }
            let request = try HTTP.Request(url: "http://origin.test/")
            try expectBytes(await client.get(request.url.absoluteString).value, "ok".utf8)
            async let refused = client.proxyFailure(request)
            try await sent.opened()
            try await bounded(.seconds(5)) { _ = try await client.get(origin.url()) }
            try expectEqual(try await refused.proxyStatus?.rawValue, 407, "the proxy's status")
        }

    /// Answers CONNECT with a body without end.
    private static func endless(_ code: Int, until isOver: Lock<Bool>, _ sent: Gate) -> ScriptedServer.Script {
        [
            .receiveHead,
            .run { connection in
                // A client that does not read the body closes soon.
                defer { sent.open() }
                try connection.send(
                    "HTTP/1.1 \(code) No\r\nProxy-Authenticate: Basic\r\nContent-Length: 1000000000000\r\n\r\n"
                )
                while !isOver.withLock({ $0 }) {
                    try connection.send(Array(repeating: 0x20, count: 65_536))
                    sent.open()
                }
            },
        ]
    }

    /// The proxy's answer has an endless body, which no client reads to its end.
    private static func endlessRefusal(_ code: Int) -> ConformanceCheck {
        ConformanceCheck(
            "An endless CONNECT response of \(code) delays no other fetch",
            needs: needsProxies
        ) { subject in
            let (isOver, sent) = (Lock(false), Gate())
            let proxy = try ScriptedServer { _ in endless(code, until: isOver, sent) }
            defer { isOver.withLock { $0 = true } }
            let origin = try ScriptedServer.responding { _ in .ok("other") }
            let client = try subject.client { configuration in
                configuration.proxies = .init(http: nil, https: try Network.Proxy("http://\(proxy.authority)"))
            }
            async let refused = client.proxyFailure(HTTP.Request(url: "https://origin.test/"))
            try await sent.opened()
            try await bounded(.seconds(5)) { _ = try await client.get(origin.url()) }
            try expectEqual(try await refused.proxyStatus?.rawValue, code, "the proxy's status")
        }
    }

    private static func refusedTunnel(_ status: String, _ code: Int) -> ConformanceCheck {
        ConformanceCheck(
            "A CONNECT response of \(code) fails the fetch with that status",
            needs: needsProxies
        ) {
            subject in
            let proxy = try ScriptedServer { _ in
                [
                    .receiveHead,
                    .send("HTTP/1.1 \(status)\r\nLocation: http://elsewhere.test/\r\nContent-Length: 6\r\n\r\nsecret"),
                    .close,
                ]
            }
            let client = try subject.client { try $0.use("http://\(proxy.authority)") }
            let error = try await client.proxyFailure(HTTP.Request(url: "https://origin.test/"))
            try expectEqual(error.proxyStatus?.rawValue, code, "the proxy's status")
            try expectEqual(proxy.requests.map(\.method), ["CONNECT"], "what the proxy received")
        }
    }

    private static func brokenTunnel(_ what: String, _ steps: [ScriptedServer.Step]) -> ConformanceCheck {
        ConformanceCheck("A proxy that \(what) is a proxy failure", needs: needsProxies) { subject in
            let proxy = try ScriptedServer { _ in steps + [.close] }
            let client = try subject.client { try $0.use("http://\(proxy.authority)") }
            let error = try await client.proxyFailure(HTTP.Request(url: "https://origin.test/"))
            try expectEqual(error.proxyStatus, nil, "the proxy's status")
        }
    }
}

extension BoundedClient {
    /// Fetches a resource that must fail because of a proxy.
    func proxyFailure(
        _ request: HTTP.Request,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> any HTTPTransportError {
        let error = try await failure(request, file: file, line: line)
        guard case .transport(let cause as any HTTPTransportError, _) = error, cause.kind == .proxy else {
            throw ConformanceFailure("expected a failure of the proxy's, saw \(error)", file: file, line: line)
        }
        return cause
    }
}
