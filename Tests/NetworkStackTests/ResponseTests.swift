import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("Responses")
struct ResponseTests {
    @Test("can be changed without changing copies, and compare by all their properties")
    func changes() throws {
        let url = try #require(URL(string: "http://host.test/"))
        let other = try #require(URL(string: "http://other.test/"))
        let original = HTTP.Response(status: .ok, headers: ["A": "1"], url: url)
        let changes: [(inout HTTP.Response) -> Void] = [
            { $0.status = .notFound }, { $0.version = .http2 }, { $0.headers["A"] = "2" }, { $0.url = other },
            { $0.trailers = ["B": "2"] }, { $0.redirects = [.init(url: other, status: .found)] },
            { $0.metrics.hopCount = 7 },
        ]
        var seen: Set = [original]
        for change in changes {
            var copy = original
            change(&copy)
            #expect(copy != original)
            #expect(seen.insert(copy).inserted)
            #expect(seen.contains(copy))
        }
        #expect(seen.count == changes.count + 1)
        #expect(original == HTTP.Response(status: .ok, headers: ["A": "1"], url: url))
    }
}
