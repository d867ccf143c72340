import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Cookies that are stored between fetches, and the hosts that get them.
    static let cookies: [ConformanceCheck] = jars + redirectedCookies + strangersCookies + securedCookies

    private static let jars: [ConformanceCheck] = [
        ConformanceCheck("Without a jar, no cookie is stored") { subject in
            let peer = try subject.serve { _ in .ok("x", headers: [("Set-Cookie", "a=b; Max-Age=1000")]) }
            let client = try subject.client()
            for _ in 1...2 { _ = try await client.get(peer.url("/")) }
            try expectEqual(peer.requests().map { $0["Cookie"] }, [nil, nil], "Cookie")
        },
        ConformanceCheck("A jar sends cookies back only where they belong") { subject in
            let peer = try subject.serve { request in
                guard request.path == "/one/start" else { return .ok("x") }
                return .ok("x", headers: [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2; Path=/")])
            }
            let client = try subject.client { $0.cookies = HTTP.CookieJar() }
            for path in ["/one/start", "/one/more", "/other"] { _ = try await client.get(peer.url(path)) }
            try expectEqual(peer.requests().map { $0["Cookie"] }, [nil, "a=1; b=2", "b=2"], "Cookie")
        },
        ConformanceCheck("Cookie paths are compared with the path as sent, without dot segments") { subject in
            let peer = try subject.serve { request in
                guard request.path.hasSuffix("/set") else { return .ok("x") }
                return .ok("x", headers: [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2; Path=/one")])
            }
            let client = try subject.client { $0.cookies = HTTP.CookieJar() }
            for path in ["/one/../two/set", "/two/more", "/one/../three"] { _ = try await client.get(peer.url(path)) }
            try expectEqual(peer.requests().map { $0["Cookie"] }, [nil, "a=1", nil], "Cookie")
        },
        ConformanceCheck("TRACE sends no cookie", rests: [.rfc(9110, "9.3.8")]) { subject in
            let peer = try subject.serve { _ in .ok("x", headers: [("Set-Cookie", "a=1")]) }
            let client = try subject.client { $0.cookies = HTTP.CookieJar() }
            for method in [HTTP.Method.GET, .TRACE, .GET] {
                _ = try await client.success(HTTP.Request(method: method, url: peer.url("/")))
            }
            try expectEqual(peer.requests().map { $0["Cookie"] }, [nil, nil, "a=1"], "Cookie")
        },
        ConformanceCheck("A cookie with a date is stored whole, commas included") { subject in
            let dated = "a=b; Expires=Fri, 31 Dec 2099 23:59:59 GMT"
            let peer = try subject.serve { _ in .ok("x", headers: [("Set-Cookie", dated), ("Set-Cookie", "c=d")]) }
            let jar = HTTP.CookieJar()
            _ = try await subject.client { $0.cookies = jar }.get(peer.url("/"))
            try expectEqual(jar.cookies.map(\.value), ["b", "d"], "values")
            try expectEqual(jar.cookies.map { $0.expires == nil }, [false, true], "cookies of the session")
        },
        ConformanceCheck("A cookie with a comma in its value is stored whole") { subject in
            let peer = try subject.serve { _ in
                .ok("x", headers: [("Set-Cookie", "s=uid=42,exp=99; Path=/here; HttpOnly"), ("Set-Cookie", "c=d")])
            }
            let jar = HTTP.CookieJar()
            _ = try await subject.client { $0.cookies = jar }.get(peer.url("/"))
            let kept = jar.cookies.map { "\($0.name)=\($0.value) \($0.path) \($0.isHTTPOnly)" }.sorted()
            try expectEqual(kept, ["c=d / false", "s=uid=42,exp=99 /here true"], "cookies")
        },
        ConformanceCheck("A redirect's cookies are stored and sent to its target") { subject in
            let peer = try subject.serve { request in
                guard request.path.hasSuffix("/start") else { return .ok("there") }
                var reply = Reply.redirect(302, to: "/next")
                reply.head.insert(contentsOf: Array("Set-Cookie: a=b\r\n".utf8), at: reply.head.count - 2)
                return reply
            }
            let client = try subject.client { $0.cookies = HTTP.CookieJar() }
            for _ in 1...2 { _ = try await client.get(peer.url("/start")) }
            try expectEqual(peer.requests().map { $0["Cookie"] }, [nil, "a=b", "a=b", "a=b"], "Cookie")
        },
        ConformanceCheck("A redirect that sets a cookie may lead back to its URL") { subject in
            let peer = try subject.serve { request in
                if request["cookie"] == "seen=1" { return .ok("welcome") }
                var reply = Reply.redirect(302, to: request.path)
                reply.head.insert(contentsOf: Array("Set-Cookie: seen=1\r\n".utf8), at: reply.head.count - 2)
                return reply
            }
            let fetched = try await subject.client { $0.cookies = HTTP.CookieJar() }.get(peer.url("/door"))
            try expectBytes(fetched.value, "welcome".utf8)
            try expectEqual(peer.requests().map { $0["Cookie"] }, [nil, "seen=1"], "Cookie")
            let error = try await subject.client().outcome(of: HTTP.Request(url: peer.url("/door")))
            guard case .failure(.tooManyRedirects(20, _)) = error else {
                throw ConformanceFailure("Expected the limit of redirects without a jar, saw \(error)")
            }
        },
        ConformanceCheck("A server that sets a cookie per redirect is followed twenty times") { subject in
            let peer = try subject.serve { request in
                var reply = Reply.redirect(302, to: request.path)
                reply.head.insert(contentsOf: Array("Set-Cookie: seen=1\r\n".utf8), at: reply.head.count - 2)
                return reply
            }
            let client = try subject.client { $0.cookies = HTTP.CookieJar() }
            let outcome = try await client.outcome(of: HTTP.Request(url: peer.url("/door")))
            guard case .failure(.tooManyRedirects(20, _)) = outcome else {
                throw ConformanceFailure("Expected the limit of redirects, saw \(outcome)")
            }
            try expectEqual(peer.requests().count, 21, "requests on the wire")
        },
        ConformanceCheck("A cookie never goes to another host, even after a redirect") { subject in
            let away = try subject.serve { _ in .ok("x") }
            let place = Lock("")
            let home = try subject.serve { _ in
                var reply = Reply.redirect(302, to: place.withLock { $0 })
                reply.head.insert(contentsOf: Array("Set-Cookie: a=b\r\n".utf8), at: reply.head.count - 2)
                return reply
            }
            // On a network both are the same machine, under two names.
            place.withLock { $0 = away.url("/").replacing("127.0.0.1", with: "localhost") }
            let client = try subject.client { $0.cookies = HTTP.CookieJar() }
            for _ in 1...2 { _ = try await client.get(home.url("/")) }
            try expectEqual(home.requests().map { $0["Cookie"] }, [nil, "a=b"], "Cookie at the origin")
            try expectEqual(away.requests().map { $0["Cookie"] }, [nil, nil], "Cookie away")
        },
        ConformanceCheck("A request's cookies precede the jar's, in one field") { subject in
            let peer = try subject.serve { _ in
                .ok("x", headers: [("Set-Cookie", "a=jar"), ("Set-Cookie", "b=jar")])
            }
            let client = try subject.client { $0.cookies = HTTP.CookieJar() }
            _ = try await client.get(peer.url("/"))
            _ = try await client.get(peer.url("/"), headers: [.cookie: "c=own; a=own"])
            try expectEqual(peer.requests().last?.values(of: "Cookie"), ["c=own; a=own; b=jar"], "Cookie")
        },
        ConformanceCheck("A jar stores cookies of every response, whatever its status") { subject in
            let peer = try subject.serve { _ in .status(500, "no", headers: [("Set-Cookie", "a=b")]) }
            let jar = HTTP.CookieJar()
            let client = try subject.client { $0.cookies = jar }
            _ = try await client.outcome(of: HTTP.Request(url: peer.url("/")))
            try expectEqual(jar.cookies.map(\.name), ["a"], "cookies")
        },
        ConformanceCheck("One jar serves several stacks and many parallel fetches") { subject in
            let peer = try subject.serve { .ok("x", headers: [("Set-Cookie", "c\($0.path.dropFirst())=1")]) }
            let jar = HTTP.CookieJar()
            let clients = try (0..<2).map { _ in try subject.client { $0.cookies = jar } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask { _ = try await clients[number % 2].get(peer.url("/\(number)")) }
                }
                try await group.waitForAll()
            }
            try expectEqual(Set(jar.cookies.map(\.name)).count, 60, "cookies")
        },
    ]

    /// Redirects that set, change and delete cookies, to paths that match them and paths that do not.
    private static let redirectedCookies: [ConformanceCheck] = [
        ConformanceCheck("A redirect sends the cookies that a direct fetch would send") { subject in
            let settings = [
                [], ["a=new; Path=/"], ["a=; Max-Age=0; Path=/"], ["b=new"], ["b=; Max-Age=0"], ["d=4; Path=/home"],
                ["a=new", "c=; Max-Age=0; Path=/", "d=4; Path=/in/more"],
            ]
            for fields in settings {
                for target in ["/home", "/in/more", "/in/more/again"] {
                    for own in [nil, "own=1; a=own"] {
                        let peer = try subject.serve { request in
                            let cookies: [String]
                            switch request.path {
                            case "/in/set": cookies = ["a=1; Path=/", "b=2", "c=3; Path=/"]
                            case "/in/start": cookies = fields
                            default: return .ok("there")
                            }
                            var reply = request.path == "/in/set" ? Reply.ok("set") : .redirect(302, to: target)
                            for cookie in cookies {
                                reply.head.insert(
                                    contentsOf: "Set-Cookie: \(cookie)\r\n".utf8,
                                    at: reply.head.count - 2
                                )
                            }
                            return reply
                        }
                        let client = try subject.client { $0.cookies = HTTP.CookieJar() }
                        let headers: HTTP.Headers = own.map { [.cookie: $0] } ?? [:]
                        _ = try await client.get(peer.url("/in/set"))
                        _ = try await client.get(peer.url("/in/start"), headers: headers)
                        _ = try await client.get(peer.url(target), headers: headers)
                        let seen = peer.requests().filter { $0.path == target }.map { $0.values(of: "Cookie") }
                        try expectEqual(seen.count, 2, "requests for \(target)")
                        try expectEqual(seen[0], seen[1], "Cookie after \(fields), to \(target), with \(own ?? "none")")
                    }
                }
            }
        }
    ]

    private static let strangersCookies: [ConformanceCheck] = [
        ConformanceCheck("A jar refuses a cookie for foreign hosts", needs: [.network, .heldLookups]) { subject in
            for (one, other, shared) in HeldLookups.strangers {
                let fields = (shared + [one]).map { (name: "Set-Cookie", value: "\($0)=x; Domain=\($0)") }
                let server = try ScriptedServer.responding { _ in .ok("x", headers: fields) }
                let client = try subject.client { $0.cookies = HTTP.CookieJar() }
                for host in [one, other, one] { _ = try await client.get(server.url("/", host: host)) }
                try expectEqual(server.requests.map { $0["Cookie"] }, [nil, nil, "\(one)=x"], "Cookie")
            }
        }
    ]

    private static let needsRoots: Set<HTTP.Capability> = [.network, .customTrustRoots]

    private static let securedCookies: [ConformanceCheck] = [
        ConformanceCheck("A secure cookie is sent over https only", needs: needsRoots) { subject in
            let certificates = try TestCertificates.shared()
            let cookie: [(name: String, value: String)] = [("Set-Cookie", "a=b; Secure; Path=/")]
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("x", headers: cookie)
            }
            let plain = try ScriptedServer.responding { _ in .ok("x") }
            let client = try subject.client {
                $0.cookies = HTTP.CookieJar()
                $0.tls.trustRoots = .file(path: certificates.caFile)
            }
            for url in [server.url(), server.url(), plain.url()] { _ = try await client.get(url) }
            try expectEqual(server.requests.map { $0["Cookie"] }, [nil, "a=b"], "Cookie over https")
            try expectEqual(plain.requests.map { $0["Cookie"] }, [nil], "Cookie over http")
        },
        ConformanceCheck("Nothing is stored from an untrusted server", needs: [.network]) { subject in
            let certificates = try TestCertificates.shared()
            let fields = [("Set-Cookie", "a=b"), ("Strict-Transport-Security", "max-age=1000")]
            let server = try ScriptedServer.responding(.init(tls: certificates.untrusted)) { _ in
                .ok("x", headers: fields.map { (name: $0.0, value: $0.1) })
            }
            let (jar, hosts) = (HTTP.CookieJar(), HTTP.StrictTransportHosts())
            let client = try subject.client {
                $0.cookies = jar
                $0.strictTransport = hosts
            }
            _ = try await client.outcome(of: HTTP.Request(url: server.url(host: "localhost")))
            try expectEqual(jar.cookies.count, 0, "cookies")
            try expectEqual(hosts.hosts.count, 0, "hosts")
        },
    ]
}
