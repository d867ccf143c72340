import Foundation
import Testing

@testable import NetworkStack

@Suite("An endpoint's URL")
struct EndpointURLTests {
    struct Endpoint: HTTPResourceEndpoint {
        var method = HTTP.Method.GET
        var baseURL: URL
        var path: String?
        var queryItems: [URLQueryItem]?
        var headers: HTTP.Headers?
    }

    private func join(_ base: String, _ path: String?, _ items: [URLQueryItem]?) throws -> String {
        let endpoint = Endpoint(baseURL: try #require(URL(string: base)), path: path, queryItems: items)
        return try endpoint.makeRequest().url.absoluteString
    }

    @Test(
        "joins the path with exactly one slash",
        arguments: [
            ("http://h.test", "a", "http://h.test/a"), ("http://h.test/", "a", "http://h.test/a"),
            ("http://h.test", "/a", "http://h.test/a"), ("http://h.test/", "/a", "http://h.test/a"),
            ("http://h.test/x", "a", "http://h.test/x/a"), ("http://h.test/x/", "/a/", "http://h.test/x/a/"),
            ("http://h.test/x", nil, "http://h.test/x"), ("http://h.test/x", "", "http://h.test/x"),
            ("http://h.test/x/", nil, "http://h.test/x/"), ("http://h.test", "/", "http://h.test/"),
            ("http://h.test:81/x", "a", "http://h.test:81/x/a"), ("http://u:p@h.test/x", "a", "http://u:p@h.test/x/a"),
            ("http://[::1]/x", "a", "http://[::1]/x/a"),
        ] as [(String, String?, String)]
    )
    func slashes(_ base: String, _ path: String?, _ expected: String) throws {
        #expect(try join(base, path, nil) == expected)
    }

    @Test(
        "takes the path as decoded text, and keeps the base's own escapes",
        arguments: [
            ("http://h.test/a%2Fb", "c", "http://h.test/a%2Fb/c"), ("http://h.test", "a b", "http://h.test/a%20b"),
            ("http://h.test", "a%20b", "http://h.test/a%2520b"), ("http://h.test", "a?b#c", "http://h.test/a%3Fb%23c"),
            ("http://h.test", "\u{FC}", "http://h.test/%C3%BC"), ("http://h.test", "a:b@c", "http://h.test/a:b@c"),
            ("http://h.test", "a[1]", "http://h.test/a%5B1%5D"), ("http://h.test", "a\r\nb", "http://h.test/a%0D%0Ab"),
            ("http://h.test", "a\\b", "http://h.test/a%5Cb"), ("http://h.test", "a/b", "http://h.test/a/b"),
        ]
    )
    func escapes(_ base: String, _ path: String, _ expected: String) throws {
        #expect(try join(base, path, nil) == expected)
        #expect(try join(base, path, nil).contains("%2F") == base.contains("%2F"))
    }

    @Test(
        "accepts no part of a path as the missing host of the base",
        arguments: [
            ("https://", "a.test/b"), ("https:/", "//a.test/b"), ("https:", "//a.test/b"), ("https://?q", "/a/b"),
        ]
    )
    func hostless(_ base: String, _ path: String) throws {
        #expect { try join(base, path, nil) } throws: {
            if $0 is HTTP.InvalidValue { true } else { false }
        }
    }

    @Test("puts the base's query first, and keeps repeated names")
    func queries() throws {
        let items = [
            URLQueryItem(name: "a", value: "2"), URLQueryItem(name: "b", value: nil),
            URLQueryItem(name: "c", value: ""),
        ]
        #expect(try join("http://h.test/x?a=1", nil, items) == "http://h.test/x?a=1&a=2&b&c=")
        #expect(try join("http://h.test/x", "y", items) == "http://h.test/x/y?a=2&b&c=")
        #expect(try join("http://h.test", nil, items) == "http://h.test?a=2&b&c=")
        #expect(try join("http://h.test/x?", nil, items) == "http://h.test/x?a=2&b&c=")
        #expect(try join("http://h.test/x?a=1", "y", nil) == "http://h.test/x/y?a=1")
        #expect(try join("http://h.test/x#f", "y", items) == "http://h.test/x/y?a=2&b&c=#f")
        #expect(try join("http://h.test/x#f?g", "y", nil) == "http://h.test/x/y#f?g")
    }

    @Test("adds no question mark for an empty array")
    func emptyQuery() throws {
        #expect(try join("http://h.test/x", nil, []) == "http://h.test/x")
        #expect(try join("http://h.test/x", "y", []) == "http://h.test/x/y")
        #expect(try join("http://h.test/x?a=1", "y", []) == "http://h.test/x/y?a=1")
    }

    @Test(
        "escapes what would change a query's meaning",
        arguments: [
            ("a b", "a%20b"), ("a&b", "a%26b"), ("a=b", "a%3Db"), ("a+b", "a%2Bb"), ("a;b", "a%3Bb"), ("a#b", "a%23b"),
            ("a?b", "a?b"), ("a/b", "a/b"), ("\u{FC}", "%C3%BC"), ("100%", "100%25"), ("'", "%27"),
        ]
    )
    func queryEscapes(_ value: String, _ escaped: String) throws {
        #expect(
            try join("http://h.test/", nil, [URLQueryItem(name: "q", value: value)]) == "http://h.test/?q=\(escaped)"
        )
        #expect(
            try join("http://h.test/", nil, [URLQueryItem(name: value, value: "v")]) == "http://h.test/?\(escaped)=v"
        )
    }

    @Test("needs only a method and a base URL")
    func defaults() throws {
        struct Smallest: HTTPResourceEndpoint {
            let method = HTTP.Method.DELETE
            let baseURL: URL
        }
        let request = try Smallest(baseURL: try #require(URL(string: "http://h.test/x"))).makeRequest()
        #expect(request.method == .DELETE)
        #expect(request.url.absoluteString == "http://h.test/x")
        #expect(request.headers.isEmpty)
        #expect(request.body.length == 0)
    }

    @Test("throws the error of making the body")
    func bodies() throws {
        struct Unmakeable: HTTPResourceEndpoint, Error {
            var method: HTTP.Method { .POST }
            var baseURL: URL { URL(filePath: "/") }
            func makeBody() throws -> HTTP.Body { throw self }
        }
        #expect(throws: Unmakeable.self) { try Unmakeable().makeRequest() }
    }
}
