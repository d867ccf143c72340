import Foundation
import Glibc
import Testing

@testable import NetworkStack

@Suite("Texts of URLs")
struct URLTextTests {
    /// The work that this thread's processor time is measured for.
    private static func time(_ work: () throws -> Void) rethrows -> Duration {
        func now() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let start = now()
        try work()
        return now() - start
    }

    @Test("of 10 MB are refused before they are parsed", .timeLimit(.minutes(1)))
    func tooLong() throws {
        let long = "http://a.test/" + String(repeating: "a\\ \u{FC}", count: 2_000_000)
        let url = try #require(URL(string: "http://a.test/" + String(repeating: "a", count: 10_000_000)))
        let response = HTTP.Response(status: 302, headers: [.location: long], url: url)
        let request = try HTTP.Request(url: "http://a.test/")
        let works: [() throws -> Void] = [
            { _ = try HTTP.Request(url: long) }, { _ = try HTTP.Request(url: url).checked() },
            { _ = try HTTP.Origin(of: url) }, { _ = try Network.Proxy(long) },
            {
                _ = try Redirect.next(
                    after: response,
                    to: request,
                    from: HTTP.Origin(of: request.url),
                    fragment: nil,
                    following: [],
                    policy: .init(),
                    sensitive: [],
                    secured: .success(nil)
                )
            },
        ]
        for (number, work) in works.enumerated() {
            let spent = Self.time { #expect(throws: (any Error).self) { try work() } }
            #expect(spent < .milliseconds(50), "Step \(number) took \(spent)")
        }
    }

    @Test("of 65,536 bytes are read, longer ones are not")
    func limit() throws {
        let start = "http://a.test/"
        let longest = start + String(repeating: "a", count: 65_536 - start.utf8.count)
        #expect(try HTTP.Request(url: longest).checked().urlText == longest)
        #expect(throws: HTTP.InvalidValue.self) { try HTTP.Request(url: longest + "a") }
        let url = try #require(URL(string: longest + "a"))
        #expect(throws: HTTP.InvalidValue.self) { try HTTP.Request(url: url).checked() }
    }

    @Test("keep a backslash after the query begins, escaped")
    func backslashes() throws {
        #expect(try URLText.url("http://a.test/?b\\c#\\").absoluteString == "http://a.test/?b%5Cc#%5C")
    }
}

@Suite("Names of hosts")
struct DomainNameTests {
    @Test(
        "become A-labels",
        arguments: [
            ("b\u{FC}cher.Example", "xn--bcher-kva.Example"), ("B\u{DC}CHER.de", "xn--bcher-kva.de"),
            ("fa\u{DF}.de", "xn--fa-hia.de"), ("\u{3B2}\u{3CC}\u{3BB}\u{3BF}\u{3C2}.com", "xn--nxasmm1c.com"),
            ("\u{65E5}\u{672C}\u{8A9E}.jp", "xn--wgv71a119e.jp"), ("\u{AD}.com", nil), ("\u{2603}.net", nil),
            ("\u{627}\u{644}.test", "xn--mgb2d.test"), ("a\u{627}.test", nil), ("\u{627}.1a", nil), ("\u{627}1.a", nil),
            ("bu\u{308}cher.de", nil), ("\u{9C7}\u{9BE}.test", nil), ("\u{995}\u{9BE}.test", "xn--p5b6f.test"),
            ("\u{308}a.test", nil), ("xn--\u{FC}.test", nil), ("-\u{FC}.test", nil), ("\u{FC}%.test", nil),
            ("\u{FB01}.test", nil), ("\u{130}.test", nil), ("\u{212A}\u{FC}.test", "xn--k-eha.test"),
            (String(repeating: "\u{FC}", count: 64) + ".test", nil), (String(repeating: "a\u{FC}.", count: 400), nil),
        ] as [(String, String?)]
    )
    func names(_ name: String, _ ascii: String?) {
        #expect(DomainName.ascii(name) == ascii)
    }

    @Test("are converted as by Foundation, or not at all", .timeLimit(.minutes(2)))
    func agreement() {
        var (agreed, differing) = (0, [String]())
        for value in UInt32(0x80)...0x1_FFFF {
            // Foundation's tables may be older than the standard library's; of ideographs and syllables some will do.
            if (0x3400...0xD7FF).contains(value) || value >= 0x1_7000, value % 97 != 0 { continue }
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major <= 14 else { continue }
            for name in ["a\(scalar)b", "x.\(scalar)\(scalar)", "\u{5D0}\(scalar)", "e\(scalar)", "\(scalar)1"] {
                guard let ascii = DomainName.ascii(name) else { continue }
                let url = URL(string: "http://\(name)/")?.absoluteString
                if url == "http://\(ascii)/" {
                    agreed += 1
                } else {
                    differing.append("\(name) \(ascii) \(url ?? "nil")")
                }
            }
        }
        #expect(agreed > 50_000)
        #expect(differing == [])
    }
}
