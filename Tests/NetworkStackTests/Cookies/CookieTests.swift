import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("Cookies")
struct CookieTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let home = CookieCase.home

    private static func jar() -> HTTP.CookieJar { HTTP.CookieJar { now } }

    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// The field that the jar sends for a case.
    static func sent(_ row: CookieCase) throws -> String {
        let jar = HTTP.CookieJar()
        for answer in row.answers { jar.take(answer.fields, from: try url(answer.url)) }
        return jar.cookies(for: try url(row.url)).map(\.pair).joined(separator: "; ")
    }

    @Test("are sent as RFC 6265bis requires", arguments: CookieCase.all.indices)
    func table(_ index: Int) throws {
        let row = CookieCase.all[index]
        #expect(try Self.sent(row) == row.sent, "\(row.name)")
    }

    @Test("are in a table of at least eighty cases with distinct names")
    func tableIsLarge() {
        #expect(CookieCase.all.count >= 80)
        #expect(Set(CookieCase.all.map(\.name)).count == CookieCase.all.count)
    }
}
