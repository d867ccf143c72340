import Foundation
import Testing

@testable import NetworkStack

@Suite("Strict transport")
struct StrictTransportTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func origin(_ text: String) throws -> HTTP.Origin {
        try HTTP.Origin(of: try #require(URL(string: text)))
    }

    @Test(
        "is read by its grammar",
        arguments: [
            ("max-age=100", "100"), ("max-age=\"100\"", "100"), (" MAX-AGE = 100 ; includeSubDomains", "100 +"),
            ("includesubdomains;max-age=0", "0 +"), ("max-age=100; preload; x=y; z=\"a;b\"", "100"),
            (";max-age=1;;", "1"),
            ("max-age=99999999999999999999", "\(Int64.max)"), ("max-age", nil), ("max-age=", nil), ("max-age=-1", nil),
            ("max-age=1.5", nil), ("max-age=1; max-age=2", nil), ("includeSubDomains", nil), ("", nil),
            ("max-age=1; includeSubDomains=x", nil), ("max-age=1; includeSubDomains; INCLUDESUBDOMAINS", nil),
            ("max-age=1, max-age=2", nil), ("max-age='1'", nil), ("max-age=\"1", nil), ("max age=1", nil),
            ("max-age=1; \"x\"", nil), ("max-age=1 ;\u{301} includeSubDomains", nil), ("max-age=1;\u{301}", nil),
            ("max-age=\"1\\2\" ;\tx", "12"),
        ] as [(String, String?)]
    )
    func grammar(_ field: String, _ expected: String?) {
        let read = StrictTransportSecurity(field).map { "\($0.maxAge)" + ($0.includesSubdomains ? " +" : "") }
        #expect(read == expected)
    }

    @Test("applies to the host, and to its subdomains if the policy includes them")
    func matching() throws {
        let hosts = HTTP.StrictTransportHosts { Self.now }
        hosts.apply(["max-age=10"], from: try Self.origin("https://one.test/"))
        hosts.apply(["max-age=10; includeSubDomains", "max-age=0"], from: try Self.origin("https://two.test/"))
        hosts.apply(["max-age=10"], from: try Self.origin("http://three.test/"))
        hosts.apply(["max-age=10; includeSubDomains"], from: try Self.origin("https://127.0.0.1/"))
        hosts.apply(["max-age=10; includeSubDomains"], from: try Self.origin("https://[::1]/"))
        let asked = [
            "one.test", "sub.one.test", "two.test", "a.b.two.test", "nottwo.test", "three.test", "127.0.0.1", "[::1]",
        ]
        #expect(asked.filter { hosts.requiresHTTPS($0) } == ["one.test", "two.test", "a.b.two.test"])
        hosts.apply(["max-age=0"], from: try Self.origin("https://two.test/"))
        #expect(!hosts.requiresHTTPS("a.b.two.test"))
    }

    @Test("finds a host by its name in capitals, too")
    func capitals() {
        let hosts = HTTP.StrictTransportHosts { Self.now }
        hosts.note(.init(name: "Bank.Test.", expires: .distantFuture, includesSubdomains: true))
        #expect(hosts.hosts.map(\.name) == ["bank.test"])
        #expect(hosts.requiresHTTPS("www.bank.test") && hosts.requiresHTTPS("BANK.test"))
    }

    @Test("expires at its time")
    func passing() throws {
        let time = Lock(Self.now)
        let hosts = HTTP.StrictTransportHosts { time.withLock { $0 } }
        hosts.apply(["max-age=10"], from: try Self.origin("https://one.test/"))
        time.withLock { $0 += 9.9 }
        #expect(hosts.requiresHTTPS("one.test"))
        time.withLock { $0 += 0.1 }
        #expect(!hosts.requiresHTTPS("one.test"))
        #expect(hosts.hosts.isEmpty)
    }

    @Test(
        "changes the scheme and port 80, and nothing else",
        arguments: [
            ("http://one.test/a%2Fb?c=d", "https://one.test/a%2Fb?c=d"),
            ("http://one.test:80/", "https://one.test:443/"),
            ("http://one.test:8080/", "https://one.test:8080/"),
            ("HTTP://user:pw@ONE.test./x#y", "https://user:pw@ONE.test./x#y"),
            ("https://one.test/", nil), ("http://two.test/", nil),
        ] as [(String, String?)]
    )
    func securing(_ text: String, _ expected: String?) throws {
        let hosts = HTTP.StrictTransportHosts { Self.now }
        hosts.apply(["max-age=10"], from: try Self.origin("https://one.test/"))
        let memory = CookiesAndHSTS(cookies: nil, strictTransport: hosts)
        #expect(try memory.secured(try #require(URL(string: text)))?.absoluteString == expected)
    }

    @Test("is saved in the format of curl, for its owner only, and is loaded unchanged")
    func files() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "hosts-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let hosts = HTTP.StrictTransportHosts { Self.now }
        hosts.apply(["max-age=31536000; includeSubDomains"], from: try Self.origin("https://two.test/"))
        hosts.note(.init(name: "one.test", expires: .distantFuture, includesSubdomains: false))
        try hosts.save(to: path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains(".two.test \"20280115 08:00:00\"\n"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try Data(
            (text + "bad.test\nbad.test 20300101\nthree.test \"unlimited\"\nfour.test \"20301301 00:00:00\"\n"
                + ".two\u{2028}five.test \"unlimited\"\r\nSix.test \"20300101 00:00:00\"\r\n").utf8
        )
        .write(to: URL(filePath: path))
        let back = HTTP.StrictTransportHosts { Self.now }
        try back.load(from: path)
        #expect(back.hosts.map(\.name) == ["one.test", "six.test", "three.test", "two.test", "two\u{2028}five.test"])
        #expect(back.requiresHTTPS("sub.two.test") && !back.requiresHTTPS("sub.one.test"))
    }

    @Test("loses no host and no time to an old file")
    func oldFiles() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "hosts-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines = [
            ".two.test \"20280101 00:00:00\"", "one.test \"20200101 00:00:00\"", "three.test \"20300101 00:00:00\"",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
        let hosts = HTTP.StrictTransportHosts { Self.now }
        hosts.note(.init(name: "one.test", expires: .distantFuture, includesSubdomains: true))
        hosts.note(.init(name: "two.test", expires: .distantFuture, includesSubdomains: false))
        hosts.note(.init(name: "three.test", expires: Self.now.addingTimeInterval(60), includesSubdomains: false))
        try hosts.load(from: path)
        #expect(hosts.requiresHTTPS("sub.one.test"))
        #expect(hosts.hosts.filter { $0.expires == .distantFuture }.map(\.name) == ["one.test", "two.test"])
        #expect(hosts.hosts.count == 3 && hosts.hosts[1].expires > Self.now.addingTimeInterval(86_400))
    }

    @Test("does not grow without bound: hosts that expire first are removed")
    func bounds() {
        let hosts = HTTP.StrictTransportHosts { Self.now }
        for number in 0...10_000 {
            let end = Self.now.addingTimeInterval(Double(number + 1))
            hosts.note(.init(name: "h\(number).test", expires: end, includesSubdomains: false))
        }
        #expect(hosts.hosts.count == 9000)
        #expect(hosts.requiresHTTPS("h1001.test") && !hosts.requiresHTTPS("h1000.test"))
        #expect(hosts.requiresHTTPS("h10000.test"))
    }

    @Test("stores no name that a file would write differently")
    func oddNames() throws {
        let hosts = HTTP.StrictTransportHosts { Self.now }
        for name in ["a.test \"20300101 00:00:00\"\nb.test", "a b", ".test", "a\u{7F}", ""] {
            hosts.note(.init(name: name, expires: .distantFuture, includesSubdomains: false))
        }
        #expect(hosts.hosts == [])
    }
}
