import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension HTTP.Capability {
    /// An installed dante. It depends on the system, not on the stack: Debian 13 has no package of it.
    static let dante = HTTP.Capability(rawValue: "dante")
}

extension ConformanceCheck {
    /// Routes through SOCKS proxies.
    static let socksProxies: [ConformanceCheck] =
        throughDante + [
            lookup("socks5h", "by the proxy", "localhost"),
            lookup("socks5", "locally", "127.0.0.1"),
            ConformanceCheck("A SOCKS 5 proxy carries https", needs: needsProxies.union(needsHTTP2)) { subject in
                let socks = try MicrosocksServer()
                try await socks.start()
                let (nginx, client) = try await nginx(subject) { try $0.use("socks5h://127.0.0.1:\(socks.port)") }
                let fetched = try await client.get(nginx.httpsURL("/bytes/64k"))
                try expectBytes(fetched.value, BytePattern.bytes(65_536))
                try expectEqual(fetched.response.version, .http2, "the version")
                try await socks.waitForDestinations { $0 == ["localhost:\(nginx.httpsPort)"] }
            },
            ConformanceCheck("A SOCKS 5 proxy receives a name and a password", needs: needsProxies) { subject in
                let socks = try MicrosocksServer(credentials: ("user", "p:ss"))
                try await socks.start()
                let server = try ScriptedServer.responding { _ in .ok("done") }
                let known = try subject.client { try $0.use("socks5://user:p%3Ass@127.0.0.1:\(socks.port)") }
                try expectBytes(await known.get(server.url()).value, "done".utf8)
                for credentials in ["user:wrong@", "user@", ""] {
                    let unknown = try subject.client { try $0.use("socks5://\(credentials)127.0.0.1:\(socks.port)") }
                    _ = try await unknown.proxyFailure(HTTP.Request(url: server.url()))
                }
                try expectEqual(server.requests.count, 1, "requests")
            },
            ConformanceCheck("A SOCKS 5 proxy that reaches no server is a proxy failure", needs: needsProxies) {
                subject in
                let socks = try MicrosocksServer()
                try await socks.start()
                let closed = try ClosedPort.reserve()
                let client = try subject.client { try $0.use("socks5h://127.0.0.1:\(socks.port)") }
                _ = try await client.proxyFailure(HTTP.Request(url: "http://127.0.0.1:\(closed.port)/"))
            },
            ConformanceCheck(
                "A name that a SOCKS proxy resolves is not looked up locally",
                needs: needsProxies.union([.heldLookups])
            ) { subject in
                let socks = try MicrosocksServer()
                try await socks.start()
                let held = try HeldLookups()
                let client = try subject.client { try $0.use("socks5h://127.0.0.1:\(socks.port)") }
                // The proxy cannot resolve the name, either, and reports that.
                _ = try await client.proxyFailure(HTTP.Request(url: "http://\(held.name)/"))
                try expect(!held.hasBegun, "The name was looked up locally")
            },
            oldSOCKS("socks4", "127.0.0.1", [127, 0, 0, 1] + Array("user".utf8) + [0]),
            oldSOCKS(
                "socks4a",
                "origin.test",
                [0, 0, 0, 1] + Array("user".utf8) + [0] + Array("origin.test".utf8) + [0]
            ),
            ConformanceCheck("A SOCKS 4 proxy that refuses is a proxy failure", needs: needsProxies) { subject in
                let proxy = try ScriptedServer { _ in [.receive(9), .send([0, 91, 0, 0, 0, 0, 0, 0]), .close] }
                let client = try subject.client { try $0.use("socks4://\(proxy.authority)") }
                _ = try await client.proxyFailure(HTTP.Request(url: "http://127.0.0.1:1/"))
            },
        ]

    private static let needsDante = needsProxies.union([.dante])

    /// Through another implementation of the protocol, which also supports its older version.
    private static let throughDante: [ConformanceCheck] =
        ["socks5", "socks5h", "socks4"].map { scheme in
            ConformanceCheck("dante carries requests over \(scheme)", needs: needsDante.union(needsHTTP2)) {
                subject in
                let dante = try DanteServer()
                try await dante.start()
                let (nginx, client) = try await nginx(subject) { configuration in
                    try configuration.use("\(scheme)://127.0.0.1:\(dante.port)")
                    configuration.addresses.family = .ipv4
                }
                let fetched = try await client.get(nginx.httpsURL("/bytes/64k"))
                try expectBytes(fetched.value, BytePattern.bytes(65_536))
                let content = patternBytes(300_000)
                var options = HTTP.Options()
                options.allowsEmptyBody = true
                let put = try HTTP.Request(method: .PUT, url: nginx.httpURL("/upload/one"), body: .bytes(content))
                _ = try await client.success(put, options: options)
                try expectBytes(nginx.uploadedFile("one") ?? [], content)
                let expected = ["127.0.0.1:\(nginx.httpsPort)", "127.0.0.1:\(nginx.httpPort)"]
                try await dante.waitForDestinations { $0 == expected }
            }
        } + [
            ConformanceCheck("A denial by dante's rules is a proxy failure", needs: needsDante) { subject in
                let dante = try DanteServer(.nobody)
                try await dante.start()
                let server = try ScriptedServer.responding { _ in .ok("done") }
                for scheme in ["socks5", "socks5h", "socks4"] {
                    let client = try subject.client { try $0.use("\(scheme)://127.0.0.1:\(dante.port)") }
                    _ = try await client.proxyFailure(HTTP.Request(url: server.url()))
                }
                try expectEqual(server.snapshot.accepted, 0, "connections to the origin")
                try expectEqual(dante.destinations, [], "what the proxy connected to")
            },
            ConformanceCheck(
                "Credentials unknown to dante are a proxy failure",
                needs: needsDante
            ) { subject in
                let dante = try DanteServer(.users)
                try await dante.start()
                let server = try ScriptedServer.responding { _ in .ok("done") }
                for credentials in ["nobody-of-this-name:secret@", ""] {
                    let client = try subject.client { try $0.use("socks5://\(credentials)127.0.0.1:\(dante.port)") }
                    _ = try await client.proxyFailure(HTTP.Request(url: server.url()))
                }
                try expectEqual(server.snapshot.accepted, 0, "connections to the origin")
            },
        ]

    /// The request of the older versions: version, command, port, address, user, and, with 4a, the name.
    private static func oldSOCKS(_ scheme: String, _ host: String, _ rest: [UInt8]) -> ConformanceCheck {
        ConformanceCheck("A \(scheme) proxy receives the port, \(host) and the user", needs: needsProxies) {
            subject in
            let expected: [UInt8] = [4, 1, 0x1F, 0x90] + rest
            let isAsExpected = Lock(false)
            // The proxy is also the origin.
            let proxy = try ScriptedServer { _ in
                [
                    .run { connection in
                        let bytes = try connection.receive(expected.count)
                        isAsExpected.withLock { $0 = bytes == expected }
                    }, .send([0, 90, 0, 0, 0, 0, 0, 0]), .receiveHead, .send(doneReply), .close,
                ]
            }
            let client = try subject.client { try $0.use("\(scheme)://user@\(proxy.authority)") }
            try expectBytes(await client.get("http://\(host):8080/").value, "done".utf8)
            try expect(isAsExpected.withLock { $0 }, "The proxy received other bytes")
            try expectEqual(proxy.requests.map { $0["Host"] }, ["\(host):8080"], "Host")
        }
    }

    private static func lookup(_ scheme: String, _ place: String, _ expected: String) -> ConformanceCheck {
        ConformanceCheck("With \(scheme), names are looked up \(place)", needs: needsProxies) { subject in
            let socks = try MicrosocksServer()
            try await socks.start()
            let server = try ScriptedServer.responding { .ok($0.path) }
            let client = try subject.client { configuration in
                try configuration.use("\(scheme)://127.0.0.1:\(socks.port)")
                configuration.addresses.family = .ipv4
            }
            for path in ["/first", "/second"] {
                try expectBytes(await client.get(server.url(path, host: "localhost")).value, path.utf8)
            }
            let seen = try await socks.waitForDestinations { !$0.isEmpty }
            try expectEqual(seen, ["\(expected):\(server.port)"], "the destinations that the proxy received")
            try expectEqual(server.requests.first?["Host"], "localhost:\(server.port)", "Host")
        }
    }
}
