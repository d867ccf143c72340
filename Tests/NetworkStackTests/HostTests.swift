import Foundation
import NetworkStack
import Testing

@Suite("A host")
struct HostTests {
    @Test(
        "becomes the root of a URL",
        arguments: [
            ("api.example.com", "https://api.example.com/"), ("API.Example.COM", "https://api.example.com/"),
            ("localhost:8080", "https://localhost:8080/"), ("127.0.0.1:1", "https://127.0.0.1:1/"),
            ("[::1]", "https://[::1]/"), ("[::1]:80", "https://[::1]:80/"), ("::1", "https://[::1]/"),
            ("fe80::1:2", "https://[fe80::1:2]/"),
        ]
    )
    func urls(_ text: String, _ expected: String) throws {
        #expect(try HTTP.Host(text).url(.https).absoluteString == expected)
        #expect("https://\(HTTP.Host(text))/" == expected)
    }

    @Test("is the same value in every spelling")
    func equality() {
        #expect(HTTP.Host("localhost", port: 8080) == "LOCALHOST:8080")
        #expect(HTTP.Host("::1", port: 80) == "[::1]:80")
    }

    @Test(
        "that is invalid is refused with a sentence",
        arguments: [
            "", "a b", "a/b", "a?b", "a#b", "u@h", "a\\b", "h\u{2603}.example", "a..b", "h:0", "h:65536", "h:x",
            "h:-1", "h:+80", "[::1]:+80", "h\r\nx", ":80", "[::1",
        ]
    )
    func refusals(_ text: String) {
        #expect(throws: HTTP.InvalidValue.self) { try HTTP.Host(text).url(.https) }
    }

    @Test("is refused with a scheme that cannot be fetched")
    func schemes() {
        #expect(throws: HTTP.InvalidValue.self) { try HTTP.Host("h.test").url(HTTP.Scheme(rawValue: "ftp")) }
    }

    private enum Users: HTTPHostEndpoint {
        case user(id: Int)
        var host: HTTP.Host { "api.example.com:8443" }
        var method: HTTP.Method { .GET }
        var path: String? { "/users/{id}" }
        var pathParameters: [String: String] {
            switch self {
            case .user(let id): ["id": "\(id)"]
            }
        }
    }

    private struct Nowhere: HTTPHostEndpoint {
        let host: HTTP.Host = "no where"
        let method = HTTP.Method.GET
    }

    private struct Below: HTTPHostEndpoint {
        let host: HTTP.Host = "h.test"
        let method = HTTP.Method.GET
        let path: String? = "users"
        var baseURL: URL { URL(string: "https://h.test/v1/") ?? URL(filePath: "/") }
    }

    @Test("does not precede an endpoint's own base URL")
    func ownBases() throws {
        #expect(try Below().makeRequest().url.absoluteString == "https://h.test/v1/users")
    }

    @Test("and a scheme replace a base URL in an endpoint")
    func endpoints() throws {
        #expect(try Users.user(id: 7).makeRequest().url.absoluteString == "https://api.example.com:8443/users/7")
        #expect(Users.user(id: 7).baseURL.absoluteString == "https://api.example.com:8443/")
        #expect(throws: HTTP.InvalidValue.self) { try Nowhere().makeRequest() }
        #expect(throws: HTTP.InvalidValue.self) { try HTTP.Origin(of: Nowhere().baseURL) }
    }

    @Test("makes an endpoint without a declared type")
    func values() throws {
        let endpoint = try HTTP.Endpoint(
            method: .POST,
            scheme: .http,
            host: "h.test",
            path: "/a/{b}",
            pathParameters: ["b": "c d"],
            queryItems: [URLQueryItem(name: "e", value: "f")],
            headers: ["X-A": "1"],
            content: .text("t")
        )
        let request = try endpoint.makeRequest()
        #expect(request.url.absoluteString == "http://h.test/a/c%20d?e=f")
        #expect(
            request.headers
                == HTTP.Headers([
                    .init(name: "X-A", value: "1"), .init(name: .contentType, value: "text/plain; charset=utf-8"),
                ])
        )
        #expect(request.body.length == 1)
        let root = try #require(URL(string: "http://h.test/x?y=1"))
        #expect(try HTTP.Endpoint(baseURL: root).makeRequest().url == root)
    }

    @Test("makes no URL with an invalid scheme")
    func otherSchemes() {
        for scheme in ["http://evil.test/", "ftp", ""] {
            #expect(throws: HTTP.InvalidValue.self) { try HTTP.Host("h.test").url(.init(rawValue: scheme)) }
        }
    }
}
