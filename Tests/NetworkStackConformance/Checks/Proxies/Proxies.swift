import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    static let needsProxies: Set<HTTP.Capability> = [.network, .proxies]

    /// Routes through HTTP and HTTPS proxies, and around them.
    static let proxies: [ConformanceCheck] =
        carriedByProxies + proxySecrets + exactCredentials + proxyChoices + mixedWays

    private static let carriedByProxies: [ConformanceCheck] = [
        ConformanceCheck("A proxy URL with a path, query or fragment is refused") { _ in
            for rest in ["/path", "//", "?q", "/?q", "#f", "/#f"] {
                guard let proxy = try? Network.Proxy("http://127.0.0.1:3128\(rest)") else { continue }
                throw ConformanceFailure("\(rest) makes \(proxy)")
            }
        },
        ConformanceCheck("A proxy receives an http request in absolute form", needs: needsProxies) { subject in
            let proxy = try ScriptedServer.responding { .ok($0.text) }
            let client = try subject.client { try $0.use("http://\(proxy.authority)") }
            let request = try HTTP.Request(
                method: .POST,
                url: "http://origin.test:81/a%20b?c=d#fragment",
                body: .bytes(Data("hello".utf8))
            )
            try expectBytes(await client.success(request).value, "hello".utf8)
            let seen = proxy.requests
            try expectEqual(seen.map(\.target), ["http://origin.test:81/a%20b?c=d"], "the target")
            try expectEqual(seen.first?.values(of: "Host"), ["origin.test:81"], "Host")
        },
        ConformanceCheck(
            "A proxy's name may begin with that of a protocol",
            needs: needsProxies.union([.hostOverrides])
        ) { subject in
            let proxy = try ScriptedServer.responding { _ in .ok("done") }
            for name in ["ftp", "dict", "ldap", "imap", "smtp", "pop3"] {
                let client = try subject.client { configuration in
                    let host = "\(name).proxy.test:\(proxy.port)"
                    configuration.addresses.hostOverrides = [try .init("\(host):127.0.0.1")]
                    try configuration.use("http://\(host)")
                }
                try expectBytes(await client.get("http://origin.test/").value, "done".utf8, name)
            }
        },
        ConformanceCheck("A proxy receives every character of a URL unchanged", needs: needsProxies) { subject in
            let proxy = try ScriptedServer.responding { .ok($0.target) }
            let client = try subject.client { try $0.use("http://\(proxy.authority)") }
            for url in ["http://origin.test/a%2fb%2F?c=%c3%BC", "http://origin.test:81/a?"] {
                try expectBytes(await client.get(url + "#%2f").value, url.utf8)
            }
        },
        ConformanceCheck(
            "Requests through one proxy share its connections across origins",
            needs: needsProxies
        ) {
            subject in
            let proxy = try ScriptedServer.responding { .ok($0.target) }
            let client = try subject.client { try $0.use("http://\(proxy.authority)") }
            for host in ["a.test", "b.test", "c.test"] {
                try expectBytes(await client.get("http://\(host)/").value, "http://\(host)/".utf8)
            }
            try expectEqual(proxy.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck("squid carries http requests and their bodies", needs: needsProxies) { subject in
            let (squid, origin) = (try SquidServer(), try ScriptedServer.responding { .ok(bytes: $0.body) })
            try await squid.start()
            let client = try subject.client { try $0.use("http://127.0.0.1:\(squid.port)") }
            let content = patternBytes(300_000)
            let request = try HTTP.Request(method: .POST, url: origin.url("/echo"), body: .bytes(content))
            try expectBytes(await client.success(request).value, content)
            try expect(origin.requests.first?["Via"]?.contains("squid") ?? false, "The request did not pass squid")
            try await squid.waitForLog { $0 == ["POST \(origin.url("/echo")) 200"] }
        },
        ConformanceCheck(
            "squid tunnels https, and TLS negotiates HTTP/2 in the tunnel",
            needs: needsProxies.union(needsHTTP2)
        ) { subject in
            let squid = try SquidServer()
            try await squid.start()
            let (nginx, client) = try await nginx(subject) { try $0.use("http://127.0.0.1:\(squid.port)") }
            for _ in 1...3 {
                let fetched = try await client.get(nginx.httpsURL("/bytes/64k"))
                try expectBytes(fetched.value, BytePattern.bytes(65_536))
                try expectEqual(fetched.response.version, .http2, "the version")
            }
            squid.stop()
            let log = try await nginx.waitForLog { $0.count == 3 }
            try expectEqual(Set(log.map(\.connection)).count, 1, "connections")
        },
        ConformanceCheck("tinyproxy carries http and https", needs: needsProxies.union(needsHTTP2)) { subject in
            let tinyproxy = try TinyproxyServer()
            try await tinyproxy.start()
            let (nginx, client) = try await nginx(subject) { try $0.use("http://127.0.0.1:\(tinyproxy.port)") }
            for url in [nginx.httpURL("/json"), nginx.httpsURL("/json")] {
                try expectBytes(await client.get(url).value, ServedFiles.json.utf8)
            }
            let log = tinyproxy.log
            try expect(log.contains("CONNECT localhost:\(nginx.httpsPort)"), "no tunnel in tinyproxy's log")
            try expect(log.contains("GET http://127.0.0.1:\(nginx.httpPort)/json"), "no request in tinyproxy's log")
        },
        ConformanceCheck("An HTTPS proxy carries http and https", needs: needsProxies.union(needsHTTP2)) { subject in
            let squid = try SquidServer()
            try await squid.start()
            let certificates = try TestCertificates.shared()
            let (nginx, client) = try await nginx(subject) { configuration in
                // squid shows its own certificate alone, without the intermediate.
                let authorities = try [certificates.caFile, certificates.intermediateFile].map {
                    try Data(contentsOf: URL(filePath: $0))
                }
                configuration.tls.trustRoots = .pem(authorities[0] + authorities[1])
                try configuration.use("https://localhost:\(squid.tlsPort)")
            }
            for url in [nginx.httpURL("/json"), nginx.httpsURL("/json")] {
                try expectBytes(await client.get(url).value, ServedFiles.json.utf8)
            }
            try await squid.waitForLog { $0.contains("GET \(nginx.httpURL("/json")) 200") }
        },
        ConformanceCheck(
            "HTTP/2 by prior knowledge goes through a tunnel, never in absolute form",
            needs: needsProxies.union([.http2PriorKnowledge])
        ) { subject in
            let squid = try SquidServer()
            try await squid.start()
            let (nginx, client) = try await nginx(subject) { configuration in
                try configuration.use("http://127.0.0.1:\(squid.port)")
                configuration.options.version = .http2PriorKnowledge
            }
            let fetched = try await client.get(nginx.cleartextHTTP2URL("/echo"))
            try expectEqual(fetched.response.version, .http2, "the version")
        },
        ConformanceCheck(
            "HTTP/2 by prior knowledge goes through an HTTPS proxy's tunnel",
            needs: needsProxies.union([.http2PriorKnowledge, .customTrustRoots])
        ) { subject in
            let certificates = try TestCertificates.shared()
            let proxy = try TLSProxy(certificates.server)
            try await proxy.start()
            let (nginx, client) = try await nginx(subject) { configuration in
                try configuration.use("https://localhost:\(proxy.port)")
                configuration.tls.trustRoots = .file(path: certificates.caFile)
                configuration.options.version = .http2PriorKnowledge
            }
            for _ in 1...2 {
                let fetched = try await client.get(nginx.cleartextHTTP2URL("/echo"))
                try expectEqual(fetched.response.version, .http2, "the version")
            }
        },
        ConformanceCheck("A proxy with tunnelsHTTP tunnels http requests", needs: needsProxies) { subject in
            let (squid, origin) = (try SquidServer(), try ScriptedServer.responding { .ok($0.path) })
            try await squid.start()
            let client = try subject.client { configuration in
                var proxy = try Network.Proxy("http://127.0.0.1:\(squid.port)")
                proxy.tunnelsHTTP = true
                configuration.proxies = Network.Proxies(proxy)
            }
            try expectBytes(await client.get(origin.url("/direct")).value, "/direct".utf8)
            try expectEqual(origin.requests.first?["Via"], nil, "Via")
        },
        ConformanceCheck("A tunnel carries the request target in origin form, unchanged", needs: needsProxies) {
            subject in
            let (squid, socks) = (try SquidServer(), try MicrosocksServer())
            try await squid.start()
            try await socks.start()
            let origin = try ScriptedServer.responding { .ok($0.target) }
            let tunnel = try subject.client { configuration in
                var proxy = try Network.Proxy("http://127.0.0.1:\(squid.port)")
                proxy.tunnelsHTTP = true
                configuration.proxies = Network.Proxies(proxy)
            }
            let clients = [tunnel, try subject.client { try $0.use("socks5://127.0.0.1:\(socks.port)") }]
            for client in clients {
                for target in ["/a%2fb%2F?c=%c3%BC", "/a?", "/plain"] {
                    try expectBytes(await client.get(origin.url(target)).value, target.utf8)
                }
            }
        },
    ]

    private static let proxyChoices: [ConformanceCheck] = [
        ConformanceCheck("Origins on the exception list bypass the proxy", needs: needsProxies) { subject in
            let (proxy, origin) = (
                try ScriptedServer.responding { _ in .ok("proxy") },
                try ScriptedServer.responding { _ in .ok("origin") }
            )
            for (rules, expected) in [
                ("127.0.0.0/8", "origin"), ("127.0.0.1:\(origin.port)", "origin"), ("*", "origin"),
                ("10.0.0.0/8", "proxy"),
                ("127.0.0.1:1", "proxy"), ("", "proxy"),
            ] {
                let client = try subject.client {
                    try $0.use("http://\(proxy.authority)", except: rules)
                }
                try expectBytes(await client.get(origin.url()).value, expected.utf8, "with the exceptions \(rules)")
            }
        },
        ConformanceCheck("The proxy is chosen for every hop of a redirect", needs: needsProxies) { subject in
            let origin = try ScriptedServer.responding { _ in .ok("origin") }
            let proxy = try ScriptedServer.responding { _ in .redirect(302, to: origin.url("/direct")) }
            let client = try subject.client {
                try $0.use("http://user:secret@\(proxy.authority)", except: "127.0.0.1")
            }
            try expectBytes(await client.get("http://origin.test/").value, "origin".utf8)
            try expectEqual(origin.requests.map(\.target), ["/direct"], "the target")
            try expectEqual(origin.requests.first?["Proxy-Authorization"], nil, "Proxy-Authorization")
            try expectEqual(origin.requests.first?["Proxy-Connection"], nil, "Proxy-Connection")
        },
        ConformanceCheck("The environment's proxies are used only on request", needs: needsProxies) {
            subject in
            let (proxy, origin) = (
                try ScriptedServer.responding { _ in .ok("proxy") },
                try ScriptedServer.responding { _ in .ok("origin") }
            )
            setenv("http_proxy", "http://\(proxy.authority)", 1)
            defer { unsetenv("http_proxy") }
            try expectBytes(await subject.client().get(origin.url()).value, "origin".utf8, "unasked")
            let asked = try subject.client { $0.proxies = try Network.Proxies.environment() }
            try expectBytes(await asked.get(origin.url()).value, "proxy".utf8, "asked")
        },
        ConformanceCheck("http and https can have different proxies", needs: needsProxies) { subject in
            let (http, https) = (
                try ScriptedServer.responding { _ in .ok("http") },
                try ScriptedServer { _ in [.receiveHead, .send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), .close]
                }
            )
            let client = try subject.client { configuration in
                configuration.proxies = Network.Proxies(
                    http: try .init("http://\(http.authority)"),
                    https: try .init("http://\(https.authority)")
                )
            }
            try expectBytes(await client.get("http://origin.test/").value, "http".utf8)
            _ = try await client.failure(HTTP.Request(url: "https://origin.test/"))
            try expectEqual(http.requests.map(\.method), ["GET"], "the http proxy's requests")
            try expectEqual(https.requests.map(\.method), ["CONNECT"], "the https proxy's requests")
        },
    ]
}

extension Network.Configuration {
    /// Sends everything through one proxy.
    mutating func use(_ proxy: String, except exceptions: String = "") throws {
        proxies = Network.Proxies(try Network.Proxy(proxy), except: try Network.ProxyExceptions(exceptions))
    }
}
