import Foundation
import Testing

@testable import NetworkStack

@Suite("Origins")
struct OriginTests {
    private func origin(_ text: String) throws -> HTTP.Origin { try HTTP.Origin(of: try #require(URL(string: text))) }

    @Test(
        "are read from a URL",
        arguments: [
            ("http://host.test", "http", "host.test", 80), ("https://host.test/", "https", "host.test", 443),
            ("HTTP://HOST.Test/Path", "http", "host.test", 80), ("http://host.test:8080/", "http", "host.test", 8080),
            ("http://host.test:/", "http", "host.test", 80), ("http://host.test.", "http", "host.test", 80),
            ("http://host.test.:81", "http", "host.test", 81), ("http://127.0.0.1:1", "http", "127.0.0.1", 1),
            ("http://[::1]/", "http", "[::1]", 80), ("http://[::1]:65535", "http", "[::1]", 65535),
            ("http://[FE80::A]:9/", "http", "[fe80::a]", 9),
            ("http://[fe80::a%25lo]/", "http", "[fe80::a%25lo]", 80),
            ("http://user:pass@host.test:9/", "http", "host.test", 9),
            ("http://a%40b:c@host.test/", "http", "host.test", 80), ("http://host.test?query", "http", "host.test", 80),
            ("http://host.test#fragment", "http", "host.test", 80),
            ("http://under_score.test", "http", "under_score.test", 80),
            ("http://localhost", "http", "localhost", 80),
            ("http://xn--bcher-kva.test", "http", "xn--bcher-kva.test", 80),
            ("http://hos%74.test:9/%74", "http", "host.test", 9), ("http://HOST%2Etest%2E/", "http", "host.test", 80),
            ("http://127%2e0.0.1/", "http", "127.0.0.1", 80),
            ("http://u%40:p@%68%6F%73%54.test", "http", "host.test", 80),
        ]
    )
    func read(_ text: String, _ scheme: String, _ host: String, _ port: Int) throws {
        let origin = try origin(text)
        #expect(origin.scheme.rawValue == scheme)
        #expect(origin.host == host)
        #expect(origin.port == port)
    }

    @Test("with and without a trailing dot of the host differ, visibly")
    func absolute() throws {
        let (plain, dotted) = (try origin("https://host.test/"), try origin("https://HOST.test./"))
        #expect(plain != dotted && plain.host == dotted.host)
        let other = try origin("https://host.test.:81/")
        #expect("\(dotted)" == "https://host.test." && "\(other)" == "https://host.test.:81")
        #expect(try origin("\(dotted)") == dotted)
    }

    @Test(
        "of URLs that cannot be fetched are refused with a sentence",
        arguments: [
            ("ftp://host.test/", "ftp"), ("file:///etc/passwd", "file"), ("mailto:a@b.test", "mailto"),
            ("host.test/path", "scheme"),
            ("/path", "scheme"), ("http:host.test", "no host"), ("http:/host.test", "no host"),
            ("http:///path", "no host"),
            ("http://:80/", "no host"), ("http://user@/", "no host"), ("http://./", "no host"),
            ("http://host.test:0/", "65535"), ("http://host.test:65536/", "65535"),
            ("http://host.test:99999999999/", "65535"),
            ("http://a!b.test/", "character"), ("http://a'b.test/", "character"), ("http://a,b.test/", "character"),
            ("http://a*b.test/", "character"), ("http://(a).test/", "character"), ("http://a~b.test/", "character"),
            ("http://a..b/", "empty label"), ("http://a.b../", "empty label"), ("http://a.b%2E./", "empty label"),
            ("http://a%00.test/", "character"), ("http://a%2Fb.test/", "character"),
            ("http://a%40b.test/", "character"),
            ("http://a%3A80/", "character"), ("http://%5Ba%5D/", "character"), ("http://a%2574.test/", "character"),
            ("http://a%20b.test/", "character"), ("http://a%0D%0Ab.test/", "character"), ("http://a%2.test/", "none"),
            ("http://a%zz.test/", "none"), ("http://a%", "none"), ("http://[::1]%41/", "between"),
            ("http://.a/", "no host"), ("http://[::1/", ""), ("http://[a.b]/", "IPv6"), ("http://[1.2.3.4]/", "IPv6"),
            ("http://[::1.]/", "IPv6"), ("http://[fe80::1%25\(String(repeating: "l", count: 253))]/", "IPv6"),
            ("http://\(String(repeating: "a", count: 64)).test/", "63"),
            ("http://\(Array(repeating: "abcdefgh", count: 29).joined(separator: "."))/", "253"),
        ]
    )
    func refused(_ text: String, _ part: String) throws {
        guard let url = URL(string: text) else { return }  // what Foundation itself refuses never gets here
        do {
            let origin = try HTTP.Origin(of: url)
            Issue.record("\(text) has the origin \(origin)")
        } catch {
            #expect(error.reason.contains(part), "\(error)")
            #expect(error.reason.hasSuffix("."))
        }
    }

    @Test("a label of 63 bytes and a name of 253 are accepted")
    func longNames() throws {
        let label = String(repeating: "a", count: 63)
        #expect(try origin("http://\(label).test").host == "\(label).test")
        let name = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(name.utf8.count == 253)
        #expect(try origin("http://\(name)/").host == name)
    }

    @Test(
        "a host beyond ASCII is its A-label",
        arguments: ["http://b\u{FC}cher.test/", "http://b%C3%BCcher.test/", "http://B%C3%9CCHER.test/"]
    )
    func beyondASCII(_ text: String) throws {
        guard let url = URL(string: text) else { return }
        #expect(try HTTP.Origin(of: url).host == "xn--bcher-kva.test")
        #expect(try HTTP.Request(url: text).checked().urlText == "http://xn--bcher-kva.test/")
    }

    @Test("the refusal of a host without a known A-label requests it", arguments: ["%E2%98%83.test", "a%FF.test"])
    func nonASCII(_ host: String) throws {
        let url = try #require(URL(string: "http://\(host)/"))
        #expect {
            try HTTP.Origin(of: url)
        } throws: {
            if case let error as HTTP.InvalidValue = $0 { error.reason.contains("A-label") } else { false }
        }
    }

    @Test(
        "names a host in TLS, and no address",
        arguments: [
            ("https://api.test/", "api.test"), ("https://127.0.0.1/", nil), ("https://127.1/", nil),
            ("https://[::1]/", nil), ("https://[::ffff:127.0.0.1]/", nil), ("https://1.test/", "1.test"),
        ]
    )
    func serverName(_ text: String, _ name: String?) throws {
        let origin = try origin(text)
        #expect(origin.serverName == name)
        #expect(try Network.Proxy("https://\(origin.host):8080").serverName == name)
    }

    @Test("the scheme's default port is not shown, and makes no difference")
    func defaultPorts() throws {
        #expect(try origin("http://host.test:80") == origin("http://HOST.test/path"))
        #expect(try origin("https://host.test:443/").description == "https://host.test")
        #expect(try origin("https://host.test:80/").description == "https://host.test:80")
        #expect(try origin("http://host.test") != origin("https://host.test:80"))
    }

    @Test(
        "the text for a backend has neither user info nor fragment",
        arguments: [
            ("http://u:p@host.test/a?b", "u:p", "http://host.test/a?b"),
            ("http://host.test/a?b#c", nil, "http://host.test/a?b"),
            ("http://u@host.test#c", "u", "http://host.test"), ("http://host.test/a", nil, nil),
            ("http://@host.test/", "", "http://host.test/"),
            ("http://hos%74.test:9/%74?%74#c", nil, "http://host.test:9/%74?%74"),
            ("http://hos%74.test/", nil, "http://host.test/"),
        ] as [(String, String?, String?)]
    )
    func stripped(_ text: String, _ userInfo: String?, _ stripped: String?) throws {
        let target = try HTTP.Target(try #require(URL(string: text)))
        #expect(target.userInfo == userInfo)
        #expect(target.stripped == stripped)
    }

    @Test("user info becomes Basic credentials, decoded, unless the request has its own")
    func userInfo() throws {
        let request = try HTTP.Request(url: "http://us%20er:p%40ss@host.test/")
        let expected = "Basic " + Data("us er:p@ss".utf8).base64EncodedString()
        #expect(try request.checked().request.headers[.authorization] == expected)
        #expect(try request.checked().request.url.absoluteString == "http://host.test/")
        var own = request
        own.headers[.authorization] = "Bearer x"
        #expect(try own.checked().request.headers[.authorization] == "Bearer x")
    }
}
