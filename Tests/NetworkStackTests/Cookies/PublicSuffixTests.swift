import Foundation
import Testing

@testable import NetworkStack

@Suite("Public suffixes")
struct PublicSuffixTests {
    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test("are read from a list, and are A-labels")
    func suffixes() {
        let list = HTTP.PublicSuffixList(
            """
            // a comment
            com
            co.uk   beside
            *.ck
            !www.ck
            \u{516C}\u{53F8}.cn
            m\u{FC}nchen.example
            """
        )
        #expect(list.count == 6)
        let suffixes = ["com", "anything", "co.uk", "ck", "b.ck", "xn--55qx5d.cn", "xn--mnchen-3ya.example"]
        #expect(suffixes.filter { !list.isPublicSuffix($0) } == [])
        #expect(
            ["example.com", "a.co.uk", "www.ck", "a.b.ck", "example.example"].filter { list.isPublicSuffix($0) } == []
        )
        #expect(HTTP.PublicSuffixList.system.count > 5000)
        #expect(HTTP.PublicSuffixList.system.isPublicSuffix("xn--55qx5d.cn"))
    }

    @Test(
        "of hosts are the longest that the list has",
        arguments: [
            ("a.s3.test", "s3.test"), ("s3.test", "s3.test"), ("other.test", "test"), ("b.c.wild.test", "c.wild.test"),
            ("c.wild.test", "c.wild.test"), ("wild.test", "wild.test"), ("a.own.wild.test", "wild.test"),
            ("own.wild.test", "wild.test"), ("machine", "machine"), ("a.s3.test.", "s3.test."), ("test.", "test."),
            ("", ""), (".", "."), ("a..s3.test", "s3.test"),
        ]
    )
    func longest(_ host: String, _ suffix: String) {
        let list = HTTP.PublicSuffixList("test\ns3.test\n*.wild.test\n!own.wild.test")
        #expect(list.publicSuffix(of: host) == suffix)
    }

    @Test("of the system's list get no cookie", .timeLimit(.minutes(1)))
    func systemList() throws {
        let text = try String(contentsOfFile: HTTP.PublicSuffixList.systemPath, encoding: .utf8)
        let rules = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("//") && !$0.hasPrefix("!") }
        #expect(rules.count > 5000)
        var misused: [String] = []
        for rule in rules {
            let labels = rule.split(separator: ".").map { $0 == "*" ? "any" : Punycode.label($0) ?? "" }
            let suffix = labels.joined(separator: ".")
            let jar = HTTP.CookieJar()
            let domains = labels.indices.map { "a=b; Domain=" + labels[$0...].joined(separator: ".") }
            let mayTake = jar.take(domains, from: try Self.url("http://attacker.\(suffix)/"))
            if mayTake { misused.append(suffix) }
            // An exception can make the name itself registrable.
            let own = "a=b; Domain=own.\(suffix)"
            if !jar.take([own], from: try Self.url("http://own.\(suffix)/")) { misused.append(own) }
        }
        #expect(misused == [])
    }

    @Test("part what a file has for all of them")
    func files() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "jar-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines = ["amazonaws.com", "s3.amazonaws.com", "bank.s3.amazonaws.com"].map {
            ".\($0)\tTRUE\t/\tFALSE\t0\t\($0)\tx\n"
        }
        try Data(lines.joined().utf8).write(to: URL(filePath: path))
        let jar = HTTP.CookieJar()
        try jar.load(from: path)
        let sent = { jar.cookies(for: try Self.url($0)).map(\.name) }
        #expect(try sent("http://bank.s3.amazonaws.com/") == ["bank.s3.amazonaws.com"])
        #expect(try sent("http://a.bank.s3.amazonaws.com/") == ["bank.s3.amazonaws.com"])
        #expect(try sent("http://s3.amazonaws.com/") == ["s3.amazonaws.com"])
        #expect(try sent("http://www.amazonaws.com/") == ["amazonaws.com"])
    }
}
