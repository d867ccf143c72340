import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// URLs that name nothing a fetch can reach.
    static let illegalURLs: [ConformanceCheck] =
        [
            ("without a host", "http:///path"), ("without slashes", "http:path"),
            ("with one slash", "https:/host/path"),
            ("of a scheme alone", "http://"), ("without a scheme", "/path"),
            ("of another scheme", "ftp://127.0.0.1/file"),
            ("of a file", "file:///etc/passwd"), ("of data", "data:text/plain,hello"),
            ("with a host of a dot", "http://./"),
            ("with an empty label", "http://a..test/"), ("with port 0", "http://127.0.0.1:0/"),
            ("with port 65536", "http://127.0.0.1:65536/"),
            ("with a port of twenty digits", "http://127.0.0.1:18446744073709551696/"),
            ("with a negative port", "http://127.0.0.1:-80/"), ("with a port of letters", "http://127.0.0.1:http/"),
            ("with an unassigned character in its host", "http://a\u{378}b.test/"),
            ("with an escaped slash in its host", "http://127%2F0.0.1/"),
            ("with a label of 64 bytes", "http://\(String(repeating: "a", count: 64)).test/"),
            ("with a host of 300 bytes", "http://\(String(repeating: "abcde.", count: 50))test/"),
            ("with a space in its host", "http://a b.test/"), ("with a quote in its host", "http://a\"b.test/"),
            ("with an unclosed bracket", "http://[::1/"), ("with text after a bracket", "http://[::1]x/"),
            ("with empty brackets", "http://[]/"),
            ("with a backslash in its user info", "http://127.0.0.1:80\\@b.test/"),
            ("of 70,000 bytes", "http://a.test/" + String(repeating: "a", count: 70_000)),
        ].map { what, text in
            ConformanceCheck("A URL \(what) is refused") { subject in
                // The text is refused when a request is made of it or, as a URL made otherwise, when it is sent.
                switch Result(catching: { () throws(HTTP.InvalidValue) in try HTTP.Request(url: text) }) {
                case .success(let request): throw ConformanceFailure("The URL was accepted as \(request.url)")
                case .failure(let error):
                    try expect(error.reason.hasSuffix("."), "The reason is no sentence: \(error.reason)")
                }
                // Where Foundation is linked its parser turns a host beyond ASCII into the A-label, which is fine.
                guard let url = URL(string: text), !url.absoluteString.contains("//xn--") else { return }
                guard case .invalidRequest = try await subject.client().refusal(HTTP.Request(url: url)) else {
                    throw ConformanceFailure("expected the fetch to be refused as an invalid request")
                }
            }
        }
        + ambiguousTexts.map { what, text in
            // A URL value no longer shows its original text: it was escaped when it was made.
            ConformanceCheck("A URL's text \(what) is refused") { _ in
                switch Result(catching: { () throws(HTTP.InvalidValue) in try HTTP.Request(url: text) }) {
                case .success(let request): throw ConformanceFailure("The URL was accepted as \(request.url)")
                case .failure(let error):
                    try expect(error.reason.hasSuffix("."), "The reason is no sentence: \(error.reason)")
                }
            }
        }
        + [
            ConformanceCheck("A URL that parsers read differently sends nothing", needs: [.network]) { subject in
                let (here, there) = (
                    try ScriptedServer.responding { _ in .ok("here") },
                    try ScriptedServer.responding { _ in .ok("there") }
                )
                let client = try subject.client()
                for text in [
                    "http://\(here.authority)\\@\(there.authority)/", "http://\(here.authority)%5C@\(there.authority)/",
                ] {
                    guard let url = URL(string: text) else { continue }
                    _ = try await client.refusal(HTTP.Request(url: url))
                    let server = try ScriptedServer.responding { _ in .redirect(302, to: text) }
                    _ = try await client.refusal(HTTP.Request(url: server.url()))
                }
                try expectEqual((here.requests + there.requests).count, 0, "requests")
            },
            ConformanceCheck("Empty user info sends no credentials") { subject in
                let peer = try subject.serve { _ in .ok("x") }
                for userInfo in ["@", ":@"] {
                    _ = try await subject.client().get(peer.url("/").replacing("http://", with: "http://" + userInfo))
                }
                try expectEqual(peer.requests().map { $0["Authorization"] }, [nil, nil], "Authorization")
            },
            ConformanceCheck("User info with a control character is refused when sent") { subject in
                let request = try HTTP.Request(url: "http://a%0Db:c@127.0.0.1:9/")
                guard case .invalidRequest = try await subject.client().refusal(request) else {
                    throw ConformanceFailure("expected an invalid request")
                }
            },
            ConformanceCheck("A host beyond ASCII is requested by its A-label", needs: [.network, .heldLookups]) {
                subject in
                let location = Lock("")
                let server = try ScriptedServer.responding {
                    $0.path == "/away" ? .redirect(302, to: location.withLock { $0 }) : .ok("there")
                }
                let client = try subject.client()
                let hosts = ["b\u{FC}cher.test", "B\u{DC}CHER.test", "b%C3%BCcher.test", HeldLookups.beyondASCII]
                for host in hosts {
                    let text = "http://\(host):\(server.port)/"
                    _ = try await client.get(text)
                    guard let url = URL(string: text) else { throw ConformanceFailure("no URL") }
                    _ = try await client.success(HTTP.Request(url: url))
                    location.withLock { $0 = text }
                    let response = try await client.get(server.url("/away")).response
                    try expectEqual(response.url.host(), HeldLookups.beyondASCII, "the host of the response")
                }
                let named = server.requests.filter { $0.path != "/away" }.map { $0["Host"] }
                let expected = Array(
                    repeating: "\(HeldLookups.beyondASCII):\(server.port)" as String?,
                    count: 3 * hosts.count
                )
                try expectEqual(named, expected, "Host")
            },
            ConformanceCheck("A relative URL is refused when it is sent") { subject in
                guard let url = URL(string: "path?query") else { throw ConformanceFailure("no URL") }
                guard case .invalidRequest = try await subject.client().refusal(HTTP.Request(url: url)) else {
                    throw ConformanceFailure("expected an invalid request")
                }
            },
            ConformanceCheck("No refusal reveals the secrets of a URL") { subject in
                guard let url = URL(string: "http://user:hunter2@127.0.0.1:99999/?token=hunter2") else {
                    throw ConformanceFailure("no URL")
                }
                let refusal = try await subject.client().refusal(HTTP.Request(url: url))
                try expect(!"\(refusal)".contains("hunter2"), "The refusal shows the secret")
                try expect(
                    !"\(HTTP.Request(url: url))".contains("hunter2"),
                    "The description of the request shows the secret"
                )
            },
        ]

    private static let ambiguousTexts = [
        ("with a line break", "http://a.test/x\r\nX: 1"), ("with a tab", "http://a.test/\tx"),
        ("with NUL", "http://a.test/x\u{0}"), ("with a trailing blank", "http://a.test/x "),
        ("with a leading blank", " http://a.test/x"), ("with a backslash in its path", "http://a.test/b\\c"),
        ("with backslashes for slashes", "http:\\\\a.test\\b"), ("with two @", "http://a@b:80@c.test/"),
        ("with brackets in its user info", "http://[::1]@c.test/"),
        ("with a blank in its user info", "http://a b@c.test/"),
        ("with user info beyond ASCII", "http://\u{FC}@c.test/"),
        ("with a broken user info escape", "http://a%@c.test/"),
        ("with a symbol for a host", "http://\u{2603}.test/"),
        ("with a full-width host", "http://\u{FF41}\u{FF42}.test/"),
        ("with a decomposed host", "http://bu\u{308}cher.test/"),
        ("with a port beyond ASCII", "http://a.test:\u{661}/"),
    ]
}
