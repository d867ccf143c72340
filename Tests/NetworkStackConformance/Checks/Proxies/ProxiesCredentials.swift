import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Credentials and fields reach the proxy or the origin, never the other.
    static let proxySecrets: [ConformanceCheck] = [
        ConformanceCheck(
            "A proxy's credentials reach the proxy and never the origin",
            needs: needsProxies.union([.customTrustRoots])
        ) { subject in
            var options = SquidServer.Options()
            options.credentials = ("user", "p@ss")
            let squid = try SquidServer(options)
            try await squid.start()
            let certificates = try TestCertificates.shared()
            let plain = try ScriptedServer.responding { _ in .ok("plain") }
            let secure = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secure") }
            let client = try subject.client { configuration in
                configuration.tls.trustRoots = .file(path: certificates.caFile)
                try configuration.use("http://user:p%40ss@127.0.0.1:\(squid.port)")
            }
            try expectBytes(await client.get(plain.url()).value, "plain".utf8)
            try expectBytes(await client.get(secure.url()).value, "secure".utf8)
            for server in [plain, secure] {
                try expectEqual(server.requests.map { $0.values(of: "Proxy-Authorization") }, [[]], "credentials")
            }
        },
        ConformanceCheck("An origin's fields and credentials never reach the tunnel's proxy", needs: needsProxies) {
            subject in
            let proxy = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"), .waitForClose]
            }
            let client = try subject.client { configuration in
                var chosen = try Network.Proxy("http://user:secret@\(proxy.authority)")
                chosen.headers = ["X-For-Proxy": "yes"]
                configuration.proxies = Network.Proxies(chosen)
            }
            let headers: HTTP.Headers = [.authorization: "Bearer t", .cookie: "a=b", "X-Own": "own"]
            let request = try HTTP.Request(url: "https://me:pw@origin.test/path?token=1", headers: headers)
            _ = try await client.failure(request)
            let seen = try await proxy.waitUntil { $0.requests.count == 1 }.requests[0]
            try expectEqual(seen.method, "CONNECT", "the method")
            try expectEqual(seen.target, "origin.test:443", "the target")
            try expectEqual(seen["Proxy-Authorization"], "Basic dXNlcjpzZWNyZXQ=", "Proxy-Authorization")
            try expectEqual(seen["X-For-Proxy"], "yes", "X-For-Proxy")
            for name in ["Authorization", "Cookie", "X-Own", "User-Agent"] { try expectEqual(seen[name], nil, name) }
        },
        ConformanceCheck("A proxy's fields are added to a request in absolute form", needs: needsProxies) { subject in
            let proxy = try ScriptedServer.responding { _ in .ok("done") }
            let client = try subject.client { configuration in
                var chosen = try Network.Proxy("http://\(proxy.authority)")
                chosen.headers = ["X-For-Proxy": "yes"]
                configuration.proxies = Network.Proxies(chosen)
            }
            _ = try await client.get("http://origin.test/")
            try expectEqual(proxy.requests.map { $0["X-For-Proxy"] }, ["yes"], "X-For-Proxy")
        },
        ConformanceCheck(
            "Proxy-Authorization in a request is refused where it would reach the origin",
            needs: needsProxies
        ) { subject in
            let proxy = try ScriptedServer.responding { _ in .ok("done") }
            let client = try subject.client { try $0.use("http://\(proxy.authority)") }
            let request = try HTTP.Request(url: "https://origin.test/", headers: [.proxyAuthorization: "Basic x"])
            guard case .invalidRequest = try await client.refusal(request) else {
                throw ConformanceFailure("expected an invalid request")
            }
            try expectEqual(proxy.snapshot.accepted, 0, "connections")
        },
        ConformanceCheck(
            "Proxy-Authorization is refused where the origin bypasses the proxy",
            needs: needsProxies
        ) { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let client = try subject.client { try $0.use("http://\(server.authority)", except: "127.0.0.1") }
            let request = try HTTP.Request(url: server.url(), headers: [.proxyAuthorization: "Basic x"])
            guard case .invalidRequest = try await client.refusal(request) else {
                throw ConformanceFailure("expected an invalid request")
            }
            try expectEqual(server.snapshot.accepted, 0, "connections")
        },
        ConformanceCheck("A proxy's credentials never reach another proxy or an origin", needs: needsProxies) {
            subject in
            let trusted = try ScriptedServer.responding { _ in .ok("by proxy") }
            let other = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), .close]
            }
            let origin = try ScriptedServer.responding { _ in .ok("direct") }
            let client = try subject.client { configuration in
                configuration.proxies = Network.Proxies(
                    http: try .init("http://user:password@\(trusted.authority)"),
                    https: try .init("http://\(other.authority)"),
                    except: try .init("127.0.0.1")
                )
            }
            for _ in 0..<2 {
                try expectBytes(await client.get("http://origin.test/").value, "by proxy".utf8)
                _ = try await client.failure(HTTP.Request(url: "https://origin.test/"))
                try expectBytes(await client.get("http://origin.test/").value, "by proxy".utf8)
                try expectBytes(await client.get(origin.url()).value, "direct".utf8)
            }
            let received = { (server: ScriptedServer) in server.requests.map { $0["Proxy-Authorization"] } }
            try expectEqual(received(trusted), Array(repeating: "Basic dXNlcjpwYXNzd29yZA==", count: 4), "its own")
            try expectEqual(received(other), [nil, nil], "those of the other proxy")
            try expectEqual(received(origin), [nil, nil], "those of the origin")
        },
    ]
}

extension ConformanceCheck {
    /// Credentials that look percent-encoded, and are not.
    static let exactCredentials = [Network.Proxy.Scheme.http, .https, .socks5].map { scheme in
        ConformanceCheck(
            "A proxy of \(scheme) receives credentials with percent signs unchanged",
            needs: needsProxies.union([.customTrustRoots])
        ) { subject in
            for password in ["100%41x", "%00", "a:b%3A@/", "%2541", " \u{FC}~"] {
                try await receives(.init(user: "us%65r", password: password), by: scheme, subject)
            }
        }
    }

    /// The proxy is also the origin. It does not answer the second request on its first connection, which is repeated on another.
    private static func receives(
        _ credentials: HTTP.Credentials,
        by scheme: Network.Proxy.Scheme,
        _ subject: ConformanceSubject
    ) async throws {
        let certificates = try TestCertificates.shared()
        let logins = Lock<[String]>([])
        let proxy = try ScriptedServer(scheme == .https ? .init(tls: certificates.server) : .init()) { index in
            let login = ScriptedServer.Step.run { connection in
                if scheme == .socks5 { try logins.withLock { try $0.append(receiveLogin(connection)) } }
            }
            let answer: ScriptedServer.Script = [.receiveHead, .send(doneReply)]
            return [login] + answer + (index == 0 ? [.receiveHead, .close] : [.waitForClose])
        }
        let client = try subject.client { configuration in
            configuration.tls.trustRoots = .file(path: certificates.caFile)
            let host = scheme == .https ? "localhost" : "127.0.0.1"
            let chosen = try Network.Proxy(scheme, host: host, port: Int(proxy.port), credentials: credentials)
            configuration.proxies = Network.Proxies(chosen)
        }
        for _ in 1...2 { try expectBytes(await client.get("http://127.0.0.1:1/").value, "done".utf8) }
        let text = "\(credentials.user):\(credentials.password)"
        if scheme == .socks5 { return try expectEqual(logins.withLock { $0 }, [text, text], "the logins") }
        let basic = "Basic \(Data(text.utf8).base64EncodedString())"
        try expectEqual(proxy.requests.map { $0["Proxy-Authorization"] }, [basic, basic, basic], "the credentials")
    }

    /// Takes name and password of a SOCKS 5 client (RFC 1929), and lets it through to an IPv4 address.
    private static func receiveLogin(_ connection: ScriptedServer.Connection) throws -> String {
        let methods = try connection.receive(2)[1]
        _ = try connection.receive(Int(methods))
        try connection.send([5, 2])
        var parts: [String] = []
        _ = try connection.receive(1)
        for _ in 1...2 {
            let count = try connection.receive(1)[0]
            parts.append(String(decoding: try connection.receive(Int(count)), as: UTF8.self))
        }
        try connection.send([1, 0])
        _ = try connection.receive(10)
        try connection.send([5, 0, 0, 1, 127, 0, 0, 1, 0, 1])
        return parts.joined(separator: ":")
    }
}
