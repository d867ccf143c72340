import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Redirects are followed as by browsers and RFC 9110, and never with secrets of another origin.
    static let redirects: [ConformanceCheck] =
        redirectMethods.resting(on: .rfc(9110, "15.4")) + redirectChains + redirectBodies + redirectResolution
        + redirectOrigins + redirectRefusals

    /// Status, method, the method of the next request, and whether the body is sent again.
    private static let redirectTable: [(Int, HTTP.Method, HTTP.Method, Bool)] = [
        (301, .GET, .GET, false), (301, .HEAD, .HEAD, false), (301, .POST, .GET, false), (301, .PUT, .PUT, true),
        (302, .GET, .GET, false), (302, .HEAD, .HEAD, false), (302, .POST, .GET, false), (302, .PUT, .PUT, true),
        (303, .GET, .GET, false), (303, .HEAD, .HEAD, false), (303, .POST, .GET, false), (303, .PUT, .GET, false),
        (307, .GET, .GET, false), (307, .HEAD, .HEAD, false), (307, .POST, .POST, true), (307, .PUT, .PUT, true),
        (308, .GET, .GET, false), (308, .HEAD, .HEAD, false), (308, .POST, .POST, true), (308, .PUT, .PUT, true),
        (301, "PATCH", "PATCH", true), (303, .DELETE, .GET, false), (307, .DELETE, .DELETE, true),
    ]

    /// More fields that are sent with the body.
    private static let aboutContent = [
        "Content-Digest", "Repr-Digest", "Digest", "Content-MD5", "Content-Disposition", "Content-Location",
        "Last-Modified",
    ]

    private static let redirectMethods: [ConformanceCheck] = redirectTable.map { code, method, next, keepsContent in
        let fate = keepsContent ? "with its body" : "without a body"
        return ConformanceCheck("A \(code) turns \(method) into \(next), \(fate)") { subject in
            let peer = try subject.serve { request in
                request.path.hasSuffix("/start") ? .redirect(code, to: "/next") : .ok("done")
            }
            var request = try HTTP.Request(method: method, url: peer.url("/start"), headers: ["X-Kept": "yes"])
            if method != .GET, method != .HEAD {
                request.body = .bytes(Data("content".utf8))
                request.headers[.contentType] = "text/plain"
                request.headers[.contentLanguage] = "en"
                for name in aboutContent { request.headers[HTTP.HeaderName(name)] = "x" }
            }
            let fetched = try await subject.client().success(request)
            let requests = peer.requests()
            try expectEqual(requests.map(\.method), [method.rawValue, next.rawValue], "the methods")
            try expectEqual(requests[1]["X-Kept"], "yes", "a header unrelated to the body")
            try expectEqual(requests[1].text, keepsContent ? "content" : "", "the body")
            try expectEqual(requests[1]["Content-Type"], keepsContent ? "text/plain" : nil, "Content-Type")
            try expectEqual(requests[1]["Content-Language"], keepsContent ? "en" : nil, "Content-Language")
            let kept = aboutContent.filter { requests[1][$0] != nil }
            try expectEqual(kept, keepsContent ? aboutContent : [], "fields about the body")
            try expectEqual(requests[1].values(of: "Content-Length"), keepsContent ? ["7"] : [], "Content-Length")
            try expectEqual(fetched.response.status, .ok, "the status")
            try expectBytes(fetched.value, (method == .HEAD ? "" : "done").utf8)
        }
    }

    private static let redirectChains: [ConformanceCheck] =
        [300, 304, 305, 306].map { code in
            ConformanceCheck("A \(code) is not followed") { subject in
                let peer = try subject.serve { _ in .redirect(code, to: "/next") }
                let (status, _, response) = try await subject.client().unsuccessful(HTTP.Request(url: peer.url("/")))
                try expectEqual(status.rawValue, code, "the status")
                try expectEqual(response.headers[.location], "/next", "Location")
                try expectEqual(peer.requests().count, 1, "requests")
            }
        }
        + [
            ConformanceCheck("A 201 with a Location is a success and not followed") { subject in
                let peer = try subject.serve { _ in .status(201, "made", headers: [("Location", "/made/1")]) }
                let fetched = try await subject.client().success(HTTP.Request(method: .POST, url: peer.url("/")))
                try expectEqual(fetched.response.headers[.location], "/made/1", "Location")
                try expectEqual(peer.requests().count, 1, "requests")
            },
            ConformanceCheck("The response lists its redirects and its final URL") { subject in
                let peer = try subject.serve { request in
                    switch request.path {
                    case let path where path.hasSuffix("/1"): .redirect(301, to: "/2?x=1")
                    case let path where path.hasSuffix("/2"): .redirect(307, to: "3")
                    default: .ok("done")
                    }
                }
                let response = try await subject.client().get(peer.url("/1")).response
                let expected = [(peer.url("/1"), 301), (peer.url("/2?x=1"), 307)]
                try expectEqual(response.redirects.map(\.url.absoluteString), expected.map(\.0), "the URLs")
                try expectEqual(response.redirects.map(\.status.rawValue), expected.map(\.1), "the statuses")
                try expectEqual(response.url.absoluteString, peer.url("/3"), "the URL of the response")
                try expectEqual(response.metrics.hopCount, 3, "hops")
            },
            ConformanceCheck("Twenty redirects are followed") { subject in
                let peer = try subject.serve { countdown($0) }
                let response = try await subject.client().get(peer.url("/20")).response
                try expectEqual(response.redirects.count, 20, "redirects")
                try expectEqual(peer.requests().count, 21, "requests")
            },
            ConformanceCheck("The twenty-first redirect is refused") { subject in
                let peer = try subject.serve { countdown($0) }
                guard
                    case .tooManyRedirects(limit: 20, _) = try await subject.client().refusal(
                        .init(url: peer.url("/21"))
                    )
                else {
                    throw ConformanceFailure("expected too many redirects")
                }
                try expectEqual(peer.requests().count, 21, "requests")
            },
            ConformanceCheck("A resource's redirect limit replaces the stack's") { subject in
                let peer = try subject.serve { countdown($0) }
                let client = try subject.client { $0.options.redirects.limit = 0 }
                var options = HTTP.Options()
                options.redirects.limit = 2
                _ = try await client.success(HTTP.Request(url: peer.url("/2")), options: options)
                let refusal = try await client.refusal(HTTP.Request(url: peer.url("/3")), options: options)
                guard case .tooManyRedirects(limit: 2, _) = refusal else {
                    throw ConformanceFailure("expected too many redirects, saw \(refusal)")
                }
            },
            ConformanceCheck("A redirect limit of zero makes a redirect an ordinary response") { subject in
                let peer = try subject.serve { _ in .status(302, "over there", headers: [("Location", "/next")]) }
                let client = try subject.client { $0.options.redirects.limit = 0 }
                let (status, _, response) = try await client.unsuccessful(HTTP.Request(url: peer.url("/")))
                try expectEqual(status, .found, "the status")
                try expectEqual(response.headers[.location], "/next", "Location")
                try expectEqual(peer.requests().count, 1, "requests")
            },
            sameURL(302), sameURL(307), sameURL(308), loop("to itself", ["/1": "/1"]),
            loop("over two other URLs", ["/1": "/2", "/2": "/3", "/3": "/1"]),
            ConformanceCheck("A POST redirected as a GET to the same URL is followed") { subject in
                let peer = try subject.serve { $0.method == "POST" ? .redirect(303, to: "/form") : .ok("done") }
                let request = try HTTP.Request(method: .POST, url: peer.url("/form"), body: .bytes(Data("x".utf8)))
                _ = try await subject.client().success(request)
                try expectEqual(peer.requests().map(\.method), ["POST", "GET"], "the methods")
            },
            ConformanceCheck("A POST turned GET may be redirected back to its URL") {
                subject in
                let peer = try subject.serve { request in
                    if request.method == "POST" { return .redirect(303, to: "/done") }
                    return request.path.hasSuffix("/done") ? .redirect(302, to: "/form") : .ok("done")
                }
                let request = try HTTP.Request(method: .POST, url: peer.url("/form"), body: .bytes(Data("x".utf8)))
                _ = try await subject.client().success(request)
                try expectEqual(peer.requests().map(\.method), ["POST", "GET", "GET"], "the methods")
            },
        ]

    private static func countdown(_ request: ReceivedRequest) -> Reply {
        let left = request.path.split(separator: "/").last.flatMap { Int($0) } ?? 0
        return left > 0 ? .redirect(302, to: "/\(left - 1)") : .ok("landed")
    }

    private static func loop(_ what: String, _ targets: [String: String]) -> ConformanceCheck {
        ConformanceCheck("A redirect loop \(what) is followed to the limit") { subject in
            let peer = try subject.serve { request in
                targets.first { request.path.hasSuffix($0.key) }.map { .redirect(302, to: $0.value) } ?? .ok("out")
            }
            let refusal = try await subject.client().refusal(HTTP.Request(url: peer.url("/1")))
            guard case .tooManyRedirects(limit: 20, _) = refusal else {
                throw ConformanceFailure("expected the limit of redirects, saw \(refusal)")
            }
            try expectEqual(peer.requests().count, 21, "requests")
        }
    }

    /// A server that is still preparing something, and the spellings of one URL.
    private static func sameURL(_ status: Int) -> ConformanceCheck {
        ConformanceCheck("A \(status) to the same URL is followed in every spelling") { subject in
            let (location, isReady) = (Lock(""), Lock(true))
            let peer = try subject.serve { _ in
                let wasReady = isReady.withLock { isReady in
                    defer { isReady = true }
                    return isReady
                }
                return wasReady ? .ok("ready") : .redirect(status, to: location.withLock { $0 })
            }
            let url = peer.url("/export?id=1")
            let written = [
                url, String(url.drop { $0 != "/" }), "?id=1", "\(url)#part", "#part",
                url.replacing("/export", with: "/x/../export"),
            ]
            for text in written {
                location.withLock { $0 = text }
                isReady.withLock { $0 = false }
                try expectBytes(await subject.client().get(url).value, "ready".utf8)
            }
            let targets = peer.requests().map(\.target)
            try expectEqual(targets.count, 2 * written.count, "requests")
            try expectEqual(Set(targets).count, 1, "different targets")
        }
    }
}
