import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The target of a `Location`: the examples of RFC 3986 section 5.4, and the behaviour of browsers for the rest.
    static let redirectResolution: [ConformanceCheck] =
        (normalExamples + abnormalExamples + furtherExamples).map { leads($0, to: $1) }
        + [
            ConformanceCheck("A redirect to an absolute URL leads there") { subject in
                let target = try subject.serve { _ in .ok("there") }
                let peer = try subject.serve { _ in .redirect(302, to: target.url("/a/../b?c=d")) }
                let fetched = try await subject.client().get(peer.url("/start"))
                try expectBytes(fetched.value, "there".utf8)
                try expectEqual(fetched.response.url.absoluteString, target.url("/b?c=d"), "the URL of the response")
            },
            ConformanceCheck("A redirect to //host keeps the scheme") { subject in
                let target = try subject.serve { _ in .ok("there") }
                let location = target.url("/b").replacing("http:", with: "", maxReplacements: 1)
                let peer = try subject.serve { _ in .redirect(302, to: location) }
                try expectBytes(await subject.client().get(peer.url("/start")).value, "there".utf8)
            },
            ConformanceCheck("A redirect's scheme is read in any case") { subject in
                let target = try subject.serve { _ in .ok("there") }
                let location = target.url("/b").replacing("http:", with: "HTTP:", maxReplacements: 1)
                let peer = try subject.serve { _ in .redirect(302, to: location) }
                try expectBytes(await subject.client().get(peer.url("/start")).value, "there".utf8)
            },
            ConformanceCheck("Equal Location fields are followed as one") { subject in
                for count in [2, 4] {
                    let peer = try subject.serve { request in
                        guard request.path.hasSuffix("/start") else { return .ok("there") }
                        return .status(302, headers: Array(repeating: ("Location", "/next"), count: count))
                    }
                    try expectBytes(await subject.client().get(peer.url("/start")).value, "there".utf8)
                    try expectEqual(peer.requests().last?.path.hasSuffix("/next"), true, "whether /next was requested")
                    let answered = try await subject.client().get(peer.url("/start")).response.url
                    try expectEqual(answered.absoluteString, peer.url("/next"), "the URL of the response")
                }
            },
            fragment("A redirect inherits the fragment", "/start#one", "/next", "/next#one"),
            fragment(
                "A redirect's fragment replaces the inherited one",
                "/start#one",
                "/next#two",
                "/next#two"
            ),
            fragment("An empty redirect fragment counts too", "/start#one", "/next#", "/next#"),
            ConformanceCheck("User info in a Location is dropped") { subject in
                let target = try subject.serve { $0.path.hasSuffix("/b") ? .redirect(to: "/c") : .ok("there") }
                let location = Lock("")
                let peer = try subject.serve { _ in .redirect(302, to: location.withLock { $0 }) }
                for userInfo in ["user:hunter2", "hunter2", ":", "", "hunter2%40a:b"] {
                    location.withLock {
                        $0 = target.url("/b").replacing("http://", with: "http://\(userInfo)@", maxReplacements: 1)
                    }
                    let response = try await subject.client().get(peer.url("/start")).response
                    try expectEqual(response.url.absoluteString, target.url("/c"), "the URL of the response")
                    let chain = response.redirects.map(\.url.absoluteString)
                    try expectEqual(chain, [peer.url("/start"), target.url("/b")], "the redirects")
                }
                for request in target.requests() {
                    try expectEqual(request["Authorization"], nil, "Authorization")
                    try expectEqual(request["Referer"], nil, "Referer")
                }
                try expectEqual(target.requests().count, 10, "requests")
            },
        ]

    private static let base = "/b/c/d;p?q"

    /// RFC 3986 section 5.4.1, except those that lead to the base itself.
    private static let normalExamples: [(String, String)] = [
        ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"),
        ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"),
        (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"),
        ("../../", "/"), ("../../g", "/g"),
    ]

    /// RFC 3986 section 5.4.2.
    private static let abnormalExamples: [(String, String)] = [
        ("../../../g", "/g"), ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
        (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
        ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"),
        ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("g#s/./x", "/b/c/g"), ("g#s/../x", "/b/c/g"),
    ]

    /// Escapes are unchanged, and illegal characters are escaped.
    private static let furtherExamples: [(String, String)] = [
        ("/a%2Fb%2f%2e%2E/c", "/a%2Fb%2f%2e%2E/c"), ("/x?u=http://h.test/%20&v=a+b", "/x?u=http://h.test/%20&v=a+b"),
        ("/a b", "/a%20b"), ("/ü?ü", "/%C3%BC?%C3%BC"), ("/a:b", "/a:b"), ("./a:b", "/b/c/a:b"), ("?", "/b/c/d;p?"),
        ("/a%20b c", "/a%20b%20c"), ("/x?f[a]=%20%5B", "/x?f%5Ba%5D=%20%5B"),
        ("/a%2Fü|?b%26=\"%22", "/a%2F%C3%BC%7C?b%26=%22%22"),
        ("/100%?a=50%&b=%25", "/100%25?a=50%25&b=%25"),
    ]

    private static func leads(_ location: String, to target: String) -> ConformanceCheck {
        ConformanceCheck("A redirect from \(base) to \(location) leads to \(target)", rests: [.rfc(3986, "5.4")]) {
            subject in
            let peer = try subject.serve { request in
                request.target.hasSuffix(base) ? .redirect(302, to: location) : .ok("there")
            }
            let fetched = try await subject.client().get(peer.url(base))
            try expectBytes(fetched.value, "there".utf8)
            // Resolved against the peer's own URL, whose paths may have a prefix.
            let prefix = peer.url("").drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
            try expectEqual(peer.requests().map(\.target), [prefix + base, prefix + target], "the targets")
        }
    }

    private static func fragment(_ what: String, _ start: String, _ location: String, _ end: String) -> ConformanceCheck
    {
        ConformanceCheck("\(what), and none is sent", rests: [.rfc(9110, "10.2.2")]) { subject in
            let peer = try subject.serve { $0.path.hasSuffix("/start") ? .redirect(302, to: location) : .ok("there") }
            let fetched = try await subject.client().get(peer.url(start))
            try expectEqual(fetched.response.url.absoluteString, peer.url(end), "the URL of the response")
            try expect(peer.requests().allSatisfy { !$0.target.contains("#") }, "A fragment was sent")
        }
    }
}
