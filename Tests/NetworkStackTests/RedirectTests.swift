import Foundation
import Testing

@testable import NetworkStack

@Suite("Redirects")
struct RedirectTests {
    private static let origin = "https://host.test/a/b?q#f"

    private func next(
        _ status: HTTP.StatusCode = 302,
        to locations: String...,
        method: HTTP.Method = .GET,
        headers: HTTP.Headers = [:],
        body: HTTP.Body = .none,
        followed: [String] = [],
        policy: HTTP.Options.Redirects = .init(),
        sensitive: Set<HTTP.HeaderName> = [],
        from url: String = RedirectTests.origin,
        fragment: String? = nil
    ) throws -> HTTP.Request? {
        let request = try HTTP.Request(method: method, url: url, headers: headers, body: body)
        let fields = locations.map { HTTP.Headers.Field(name: .location, value: $0) }
        let response = HTTP.Response(status: status, headers: HTTP.Headers(fields), url: request.url)
        let past = try followed.map { HTTP.Response.Redirect(url: try #require(URL(string: $0)), status: 302) }
        return try Redirect.next(
            after: response,
            to: request,
            from: HTTP.Origin(of: request.url),
            fragment: fragment,
            following: past,
            policy: policy,
            sensitive: sensitive,
            secured: .success(nil)
        )
    }

    @Test(
        "resolve their location per RFC 3986",
        arguments: [
            ("/c", "https://host.test/c"), ("c", "https://host.test/a/c"), ("../c", "https://host.test/c"),
            ("../../../c", "https://host.test/c"), ("./c/./d", "https://host.test/a/c/d"),
            ("?r", "https://host.test/a/b?r"),
            ("//other.test/c", "https://other.test/c"), ("https://other.test:8443/c", "https://other.test:8443/c"),
            ("/c#g", "https://host.test/c#g"), ("/c%2Fd", "https://host.test/c%2Fd"),
            ("/\u{FC}", "https://host.test/%C3%BC"),
            ("/c%20d e?f[]=%5B|#g%20h#i", "https://host.test/c%20d%20e?f%5B%5D=%5B%7C#g%20h%23i"),
            ("//[::1]:81/c[%5D", "https://[::1]:81/c%5B%5D"),
        ]
    )
    func resolution(_ location: String, _ expected: String) throws {
        #expect(try next(to: location)?.url.absoluteString == expected)
    }

    @Test("keep the fragment, unless the location has its own")
    func fragments() throws {
        #expect(try next(to: "/c", fragment: "old")?.url.absoluteString == "https://host.test/c#old")
        #expect(try next(to: "/c#new", fragment: "old")?.url.absoluteString == "https://host.test/c#new")
        #expect(try next(to: "/c#", fragment: "old")?.url.fragment() == "")
        let here = try next(303, to: "#new", method: .POST, from: "https://host.test/a/b?q", fragment: "old")
        #expect(here?.url.absoluteString == "https://host.test/a/b?q#new")
    }

    @Test(
        "change the method as browsers do",
        arguments: [
            (301, "GET", "GET"), (301, "POST", "GET"), (301, "PUT", "PUT"), (301, "HEAD", "HEAD"), (302, "POST", "GET"),
            (302, "DELETE", "DELETE"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "DELETE", "GET"),
            (303, "HEAD", "HEAD"),
            (303, "GET", "GET"), (307, "POST", "POST"), (307, "PUT", "PUT"), (308, "POST", "POST"),
            (308, "PATCH", "PATCH"),
        ]
    )
    func methods(_ status: Int, _ method: String, _ expected: String) throws {
        let hasBody = method != "HEAD" && method != "GET"
        let request = try #require(
            try next(
                .init(status),
                to: "/c",
                method: .init(rawValue: method),
                headers: [.contentType: "text/plain", "Content-Digest": "sha-256=:x:", .accept: "*/*"],
                body: hasBody ? .bytes(Data("x".utf8)) : .none
            )
        )
        #expect(request.method.rawValue == expected)
        let keepsContent = expected == method && status != 303 || method == "HEAD"
        #expect(request.body.length == (hasBody && keepsContent ? 1 : 0))
        #expect(request.headers[.accept] == "*/*")
        guard hasBody else { return }
        for name in [HTTP.HeaderName.contentType, "Content-Digest"] {
            #expect((request.headers[name] != nil) == keepsContent, "\(name)")
        }
    }

    @Test("are not followed for other statuses, without a Location, or when disabled")
    func notFollowed() throws {
        for status in [200, 201, 300, 304, 305, 306, 400] { #expect(try next(.init(status), to: "/c") == nil) }
        #expect(try next(302) == nil)
        #expect(try next(302, to: "") == nil)
        #expect(try next(to: "/c", policy: .init(limit: 0)) == nil)
    }

    @Test(
        "send secrets to the same origin only",
        arguments: [
            ("/c", true), ("https://HOST.test:443/c", true), ("https://other.test/c", false),
            ("https://host.test:444/c", false),
            ("https://sub.host.test/c", false), ("http://host.test/c", false),
            // With a search list of domains, that is another host.
            ("https://host.test./c", false), ("https://host.test%2E/c", false),
        ]
    )
    func secrets(_ location: String, _ keeps: Bool) throws {
        let headers: HTTP.Headers = [
            "Authorization": "a", "cookie": "b", "Proxy-Authorization": "c", "X-Key": "d", "Host": "host.test",
            "Accept": "e",
        ]
        let policy = HTTP.Options.Redirects(allowsInsecure: true)
        let request = try #require(try next(to: location, headers: headers, policy: policy, sensitive: ["x-key"]))
        #expect(request.headers.map(\.value).sorted() == (keeps ? ["a", "b", "c", "d", "e", "host.test"] : ["e"]))
    }

    @Test("from https to http are refused unless allowed")
    func downgrade() throws {
        #expect { try next(to: "http://host.test/c") } throws: {
            if case HopFailure.insecureRedirect = $0 { true } else { false }
        }
        #expect(try next(to: "http://host.test/c", policy: .init(allowsInsecure: true)) != nil)
        #expect(try next(to: "https://host.test/c", from: "http://host.test/") != nil)
    }

    @Test("stop at the limit")
    func limit() throws {
        #expect(try next(to: "/c", policy: .init(limit: 1)) != nil)
        let policy = HTTP.Options.Redirects(limit: 2)
        #expect(try next(to: "/c", followed: ["https://host.test/1"], policy: policy) != nil)
        #expect {
            try next(to: "/c", followed: ["https://host.test/1", "https://host.test/2"], policy: policy)
        } throws: {
            if case HopFailure.tooManyRedirects(limit: 2, _) = $0 { true } else { false }
        }
    }

    @Test("may lead to an earlier URL")
    func circles() throws {
        #expect(try next(to: "https://host.test/a", from: "https://host.test/a") != nil)
        #expect(try next(to: "/1", followed: ["https://host.test/1"]) != nil)
    }

    @Test(
        "to a URL that is not http or https are refused",
        arguments: [
            "ftp://host.test/", "file:///etc/passwd", "javascript:alert(1)", "http://", "https:///c",
            "http://host.test:99999/",
        ]
    )
    func badPlaces(_ location: String) throws {
        #expect { try next(to: location) } throws: { if case HopFailure.invalidRedirect = $0 { true } else { false } }
    }

    @Test("to two different locations are refused; two equal ones count as one")
    func ambiguous() throws {
        #expect { try next(to: "/c", "/d") } throws: {
            if case HopFailure.invalidRedirect = $0 { true } else { false }
        }
        #expect(try next(to: "/c", "/c") != nil)
    }

    @Test("that must repeat a one-shot body are refused; those that drop it are not")
    func oneShotBodies() throws {
        let body = HTTP.Body.stream(.init(AsyncStream<Data> { $0.finish() }))
        #expect { try next(307, to: "/c", method: .POST, body: body) } throws: {
            if case HopFailure.bodyNotReplayable = $0 { true } else { false }
        }
        #expect(try next(303, to: "/c", method: .POST, body: body)?.body.length == 0)
    }
}
