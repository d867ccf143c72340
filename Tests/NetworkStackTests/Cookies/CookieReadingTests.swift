import Foundation
import Testing

@testable import NetworkStack

@Suite("The sources of cookies")
struct CookieReadingTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test("removes all cookies, or those that a rule names")
    func removing() throws {
        let jar = HTTP.CookieJar { Self.now }
        let url = try Self.url("http://example.com/")
        jar.take(["a=1", "b=2", "c=3"], from: url)
        // The rule may use the jar.
        jar.removeAll { $0.name == "b" && jar.cookies.contains($0) }
        #expect(jar.cookies(for: url).map(\.name) == ["a", "c"])
        jar.removeAll()
        #expect(jar.cookies.isEmpty && jar.cookies(for: url).isEmpty)
    }

    @Test("accepts no part of an address as a domain")
    func partsOfAddresses() throws {
        for (host, domains) in [
            ("[::ffff:10.0.0.1]", ["1]", "0.1]", "0.0.1]"]), ("10.0.0.1", ["1", "0.1"]), ("10.0.0x1", ["0x1"]),
        ] {
            let jar = HTTP.CookieJar { Self.now }
            let url = try Self.url("http://\(host)/")
            for domain in domains { #expect(!jar.take(["a=1; Domain=\(domain)"], from: url), "\(domain) at \(host)") }
            #expect(jar.cookies.isEmpty)
        }
    }

    @Test("Dates follow RFC 6265bis: two-digit years from 70 are in the 20th century")
    func dates() {
        for (year, seconds) in [("69", 3_124_224_000), ("70", 0), ("99", 915_148_800), ("00", 946_684_800)] {
            let date = CookieDate.date(of: "Thu, 01-Jan-\(year) 00:00:00 GMT")
            #expect(date == Date(timeIntervalSince1970: Double(seconds)), "\(year)")
        }
        #expect(CookieDate.date(of: "Thu, 01-Jan-1600 00:00:00 GMT") == nil)
        #expect(CookieDate.date(of: "Thu, 01-Jan-1601 00:00:00 GMT") != nil)
        #expect(CookieDate.date(of: "Thu, 01-Jan-100 00:00:00 GMT") == nil)
        #expect(CookieDate.date(of: "1 Jan Feb 1970 00:00:00") == Date(timeIntervalSince1970: 0))
        for time in ["00:00:60", "00:0x:00", "0x:00:00", "00:00", "24:00:00", "00:60:00"] {
            #expect(CookieDate.date(of: "1 Jan 1970 \(time)") == nil, "\(time)")
        }
        #expect(CookieDate.date(of: "1 Jan 1970 23:59:59x") == Date(timeIntervalSince1970: 86_399))
    }

    @Test("A Max-Age that is no number is ignored", arguments: ["", "-", "+5", "5s", "--5", "5 6"])
    func lives(_ text: String) throws {
        let jar = HTTP.CookieJar { Self.now }
        #expect(jar.take(["a=1; Max-Age=60; Max-Age=\(text)"], from: try Self.url("http://example.com/")))
        #expect(jar.cookies.map(\.expires) == [Self.now + 60])
    }

    @Test(
        "Labels beyond ASCII have the A-labels of RFC 3492",
        arguments: [
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"),
            ("パフィーdeルンバ", "xn--de-jg4avhby1noc0d"),
            ("そのスピードで", "xn--d9juau41awczczp"),
            ("bücher", "xn--bcher-kva"),
            ("faß", "xn--fa-hia"),
            ("ü", "xn--tda"),
            ("中", "xn--fiq"),
            ("züüricö", "xn--zric-8qa6aa"),
            ("𐐨a", "xn--a-os2i"),
            ("éééééééééééééééééééééééééééééééé", "xn--9caaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
            ("aäaöaü", "xn--aaa-qla5gqb"),
            ("ł-ó", "xn----vga9u"),
            ("日本語日本語日本語日本語日本語日本語", "xn--wgvaaaaa89tbabbbb6609icacccc"),
            ("ğaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "xn--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-jlf"),
        ]
    )
    func labels(_ label: String, _ encoded: String) {
        #expect(HTTP.PublicSuffixList("\(label).example").isPublicSuffix("\(encoded).example"))
        #expect(!HTTP.PublicSuffixList("\(label).example").isPublicSuffix("\(encoded)a.example"))
    }
}
