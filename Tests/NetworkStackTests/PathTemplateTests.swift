import Foundation
import NetworkStack
import Testing

@Suite("Path parameters")
struct PathTemplateTests {
    private func url(_ path: String?, _ parameters: [String: String], base: String = "http://h.test") throws -> String {
        let base = try #require(URL(string: base))
        return try HTTP.Endpoint(baseURL: base, path: path, pathParameters: parameters).makeRequest().url.absoluteString
    }

    @Test("fill their placeholders, wherever they are")
    func places() throws {
        #expect(try url("/customers/{id}/orders", ["id": "7"]) == "http://h.test/customers/7/orders")
        #expect(try url("{id}", ["id": "7"]) == "http://h.test/7")
        #expect(try url("/{a}/{b}/{a}", ["a": "1", "b": "2"]) == "http://h.test/1/2/1")
        #expect(try url("/{a}-{b}.json", ["a": "1", "b": "2"]) == "http://h.test/1-2.json")
        #expect(try url("/{a}", ["a": "1"], base: "http://h.test/x%2Fy/?q=1#f") == "http://h.test/x%2Fy/1?q=1#f")
        // The test vector of a seed.
        #expect(
            try url("/{resource}/feature/function", ["resource": "12345"]) == "http://h.test/12345/feature/function"
        )
    }

    @Test(
        "stay within their segment, whatever their value",
        arguments: [
            ("a/b", "a%2Fb"), ("a b", "a%20b"), ("a?b#c", "a%3Fb%23c"), ("%2F", "%252F"), ("{b}", "%7Bb%7D"),
            ("\u{FC}", "%C3%BC"), ("a;b=c,d", "a%3Bb%3Dc%2Cd"), ("a:b@c", "a%3Ab%40c"), ("a\r\nb", "a%0D%0Ab"),
            ("a\\b", "a%5Cb"), ("-._~", "-._~"), ("...", "..."), ("a..", "a.."), ("../x", "..%2Fx"),
        ]
    )
    func escapes(_ value: String, _ expected: String) throws {
        #expect(try url("/x/{a}/y", ["a": value]) == "http://h.test/x/\(expected)/y")
    }

    @Test(
        "that would make another path are refused",
        arguments: [
            ("/x/{a}", ["a": ""]), ("/x/a{a}", ["a": ""]), ("/x/{a}", ["a": "."]), ("/x/{a}", ["a": ".."]),
            ("/x/{a}/y", ["a": ".."]),
            ("/x/{a}.", ["a": "."]), ("/x/.{a}/y", ["a": "."]), ("/x/{a}{b}", ["a": ".", "b": "."]),
        ]
    )
    func refusals(_ path: String, _ parameters: [String: String]) {
        #expect(throws: HTTP.InvalidValue.self) { try url(path, parameters) }
    }

    @Test("that are missing or unknown are refused, by name")
    func names() throws {
        for (path, parameters, name) in [
            ("/x/{id}", [:], "id"), ("/x/{id}", ["ID": "1"], "id"), ("/x", ["id": "1"], "id"), (nil, ["id": "1"], "id"),
            ("/x/{a}", ["a": "1", "b": "secret"], "b"),
        ] as [(String?, [String: String], String)] {
            do {
                _ = try url(path, parameters)
                Issue.record("\(path ?? "nil") was accepted")
            } catch let error as HTTP.InvalidValue {
                #expect(error.reason.contains(name))
                #expect(!error.reason.contains("secret"))
            }
        }
    }

    @Test(
        "need a name in braces; other braces are text",
        arguments: [
            ("/{", "/%7B"), ("/}", "/%7D"), ("/{}", "/%7B%7D"), ("/{a/b}", "/%7Ba/b%7D"), ("/{{a}}", "/%7B1%7D"),
            ("/{{a}", "/%7B1"),
        ]
    )
    func braces(_ path: String, _ expected: String) throws {
        #expect(try url(path, path.contains("{a}") ? ["a": "1"] : [:]) == "http://h.test" + expected)
    }
}

/// Defects of the older systems, by name.
@Suite("Regressions of the seeds")
struct EndpointMistakeTests {
    @Test("resourceid1 is replaced inside resourceid10")
    func partialNames() throws {
        let url = try HTTP.Endpoint(
            host: "h.test",
            path: "/{resourceid1}/{resourceid10}",
            pathParameters: ["resourceid1": "a", "resourceid10": "b"]
        ).makeRequest().url
        #expect(url.absoluteString == "https://h.test/a/b")
    }

    @Test("an empty query leaves a trailing question mark")
    func trailingQuestionMark() throws {
        let url = try HTTP.Endpoint(host: "h.test", path: "/x", queryItems: []).makeRequest().url
        #expect(url.absoluteString == "https://h.test/x")
    }

    @Test("%2F of the base URL is decoded")
    func decodedBase() throws {
        let base = try #require(URL(string: "https://h.test/a%2Fb"))
        #expect(
            try HTTP.Endpoint(baseURL: base, path: "c").makeRequest().url.absoluteString == "https://h.test/a%2Fb/c"
        )
    }

    @Test("two slashes in a path become one, and no slash is added at the joint")
    func slashes() throws {
        let base = try #require(URL(string: "https://h.test/x"))
        #expect(
            try HTTP.Endpoint(baseURL: base, path: "a//b").makeRequest().url.absoluteString == "https://h.test/x/a//b"
        )
    }

    @Test("parts that make no URL silently lose method, headers and body")
    func silentLoss() {
        #expect(throws: HTTP.InvalidValue.self) {
            try HTTP.Endpoint(method: .DELETE, host: "no host", headers: ["A": "b"], content: .text("x")).makeRequest()
        }
    }

    @Test("the method is never assigned, so every request is a GET")
    func lostMethod() throws {
        #expect(try HTTP.Endpoint(method: .DELETE, host: "h.test").makeRequest().method == .DELETE)
    }

    @Test("a request cannot be made later, because the maker's handler does not escape")
    func asynchronousMaking() async throws {
        let request = try HTTP.Request(url: "http://h.test/")
        let making = Network.BaseRequestMaking<HTTP.Request> { handler in
            let bag = CancelableBag()
            Task { bag += handler(.success(request)) }
            return bag
        }
        let url = await withCheckedContinuation { continuation in
            _ = making.make { made in
                continuation.resume(returning: try? made.get().url)
                return EmptyCancelable()
            }
        }
        #expect(url == request.url)
    }
}
