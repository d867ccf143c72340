import Foundation
import Testing

@testable import NetworkStack

@Suite("Proxies")
struct ProxyTests {
    private func origin(_ text: String) throws -> HTTP.Origin { try HTTP.Origin(of: try #require(URL(string: text))) }

    @Test(
        "are read from a URL",
        arguments: [
            ("http://proxy.test:3128", "http://proxy.test:3128"), ("proxy.test:3128", "http://proxy.test:3128"),
            ("proxy.test", "http://proxy.test:1080"), ("https://Proxy.Test", "https://proxy.test:443"),
            ("HTTP://proxy.test/", "http://proxy.test:1080"), ("socks5://127.0.0.1", "socks5://127.0.0.1:1080"),
            ("socks5h://[::1]:9", "socks5h://[::1]:9"), ("socks4a://proxy.test.:9", "socks4a://proxy.test:9"),
            ("http://user:pass@proxy.test:1", "http://proxy.test:1"),
            ("http://pr\u{FC}fung.test", "http://xn--prfung-4ya.test:1080"),
        ]
    )
    func read(_ text: String, _ expected: String) throws {
        #expect(try Network.Proxy(text).description == expected)
    }

    @Test(
        "have credentials",
        arguments: [
            ("http://user:pass@p.test", "user", "pass"), ("http://user@p.test", "user", ""),
            ("http://us%40er:p%3Ass%25@p.test", "us@er", "p:ss%"), ("http://a%40b:c@p.test", "a@b", "c"),
            ("socks5://u:a:b@p.test", "u", "a:b"), ("http://%C3%BC:x@p.test", "ü", "x"),
        ]
    )
    func credentials(_ text: String, _ user: String, _ password: String) throws {
        #expect(try Network.Proxy(text).credentials == .init(user: user, password: password))
    }

    @Test("have none where user info is empty", arguments: ["http://:@p.test", "http://@p.test"])
    func noCredentials(_ text: String) throws {
        #expect(try Network.Proxy(text).credentials == nil)
    }

    @Test("show no credentials, however they are described")
    func redacted() throws {
        var proxy = try Network.Proxy("http://user:hunter2@proxy.test")
        proxy.headers = ["Proxy-Authorization": "Bearer hunter2"]
        var configuration = Network.Configuration()
        configuration.proxies = Network.Proxies(proxy)
        for shown in ["\(proxy)", String(reflecting: proxy), "\(configuration)", dumped(proxy), dumped(configuration)] {
            #expect(!shown.contains("hunter2"), "\(shown)")
        }
    }

    private func dumped(_ value: some Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    @Test(
        "that are invalid are refused with a sentence",
        arguments: [
            "", "ftp://proxy.test", "http://", "http://proxy.test:0", "http://proxy.test:x", "http://a b",
            "http://[::1",
            "http://\u{2603}.test", "http://proxy.test/path", "http://proxy.test?q", "http://proxy.test#f",
            "http://proxy.test//",
            "http://a@b:c@proxy.test", "http://a\\b:c@proxy.test", "http://a b:c@proxy.test", "http://proxy.test\r\n",
            " proxy.test",
            "proxy.test ", "http://proxy.test/" + String(repeating: "a", count: 70_000),
            "http://user:%zz@proxy.test", "http://a%3Ab:c@proxy.test",
            "http://user:a%0D%0Ab@proxy.test", "socks5://\(String(repeating: "u", count: 256)):p@proxy.test",
        ]
    )
    func refused(_ text: String) throws {
        do {
            let proxy = try Network.Proxy(text)
            Issue.record("\(text) is \(proxy)")
        } catch {
            #expect(error.reason.hasSuffix("."), "\(error)")
        }
    }

    @Test("with invalid fields are refused with the configuration")
    func fields() throws {
        var proxy = try Network.Proxy("http://proxy.test")
        for headers: HTTP.Headers in [["X-A": "a\r\nb"], ["X A": "a"]] {
            proxy.headers = headers
            var configuration = Network.Configuration()
            configuration.proxies = Network.Proxies(proxy)
            #expect(throws: HTTP.InvalidValue.self) { try configuration.validate() }
        }
        var socks = try Network.Proxy("socks5://proxy.test")
        socks.headers = ["X-A": "a"]
        #expect(throws: HTTP.InvalidValue.self) { try socks.validate() }
    }

    @Test(
        "are skipped where a rule matches",
        arguments: [
            ("*", "http://a.test", true), ("", "http://a.test", false), ("a.test", "http://a.test", true),
            ("A.TEST", "http://a.test", true), ("a.test", "http://b.a.test", true), ("a.test", "http://ba.test", false),
            (".a.test", "http://a.test", true), (".a.test", "http://b.a.test", true),
            ("*.a.test", "http://b.a.test", true),
            ("*.a.test:81", "http://b.a.test", false), ("*.a.test", "http://ba.test", false),
            ("a.test.", "http://a.test", true),
            ("a.test", "http://a.test.", true), ("b.a.test", "http://a.test", false),
            ("x.test,a.test", "http://a.test", true), ("x.test a.test", "http://a.test", true),
            ("x.test, a.test", "http://a.test", true), ("a.test:8080", "http://a.test:8080", true),
            ("a.test:8080", "http://a.test", false), ("a.test:443", "https://b.a.test", true),
            ("localhost", "http://127.0.0.1", false), ("127.0.0.1", "http://127.0.0.1:81", true),
            ("127.0.0.1:80", "http://127.0.0.1:81", false), ("127.0.0.0/8", "http://127.9.9.9", true),
            ("10.0.0.0/8", "http://127.0.0.1", false), ("192.168.16.0/20", "http://192.168.31.255", true),
            ("192.168.16.0/20", "http://192.168.32.0", false), ("0.0.0.0/0", "http://1.2.3.4", true),
            ("0.0.0.0/0", "http://a.test", false), ("0.0.0.0/0", "http://[::1]", false),
            ("1.2.3.4/32", "http://1.2.3.4", true), ("0.1", "http://127.0.0.1", false),
            ("::1", "http://[::1]", true), ("[::1]", "http://[0:0:0:0:0:0:0:1]", true),
            ("[::1]:81", "http://[::1]:80", false), ("fe80::/10", "http://[febf::1]", true),
            ("fe80::/10", "http://[fec0::1]", false), ("2001:db8::/32", "http://[2001:DB8:1::]", true),
            ("::ffff:1.2.3.4", "http://[::ffff:102:304]", true), ("127.0.0.1", "http://127.1", true),
            ("127.0.0.1", "http://0x7f000001.", true), ("10.0.0.0/8", "http://167772161", true),
            ("127.1", "http://127.1", true), ("127.1:81", "http://127.0.0.1:81", true),
            ("10.0.0.0/8", "http://010.0.0.1", false), ("8.0.0.0/8", "http://010.0.0.1", true),
            ("127.0.0.1", "http://0177.0.0.1", true), ("0177.0.0.1", "http://127.0.0.1", true),
        ]
    )
    func exceptions(_ list: String, _ url: String, _ isExcepted: Bool) throws {
        #expect(try Network.ProxyExceptions(list).contains(origin(url)) == isExcepted)
    }

    @Test(
        "are bypassed by valid rules only",
        arguments: [
            "10.0.0.0/33", "::/129", "a.test/8", "a..test", "a b:0", "a:x", "1.2.3.4/", "1.2.3/8", "http://a.test",
            "010.0.0.0/8", "::-0",
            "*.", "a.*", "*.*.test",
        ]
    )
    func unreadable(_ list: String) {
        #expect(throws: HTTP.InvalidValue.self) { try Network.ProxyExceptions(list) }
    }

    @Test(
        "come from the environment with curl's precedence",
        arguments: [
            (["http_proxy": "l"], "http://l:1080", nil), (["HTTP_PROXY": "u"], nil, nil),
            (["https_proxy": "l", "HTTPS_PROXY": "u"], nil, "http://l:1080"),
            (["HTTPS_PROXY": "u"], nil, "http://u:1080"),
            (["all_proxy": "l", "ALL_PROXY": "u"], "http://l:1080", "http://l:1080"),
            (["ALL_PROXY": "socks5h://u"], "socks5h://u:1080", "socks5h://u:1080"),
            (["http_proxy": "h", "ALL_PROXY": "u"], "http://h:1080", "http://u:1080"),
            (["http_proxy": "", "ALL_PROXY": "u"], "http://u:1080", "http://u:1080"),
            (["https_proxy": "", "HTTPS_PROXY": "u"], nil, "http://u:1080"),
            (["all_proxy": "a", "no_proxy": "*"], nil, nil), (["all_proxy": "a", "NO_PROXY": "x.test"], nil, nil),
            (["all_proxy": "a", "no_proxy": "y.test", "NO_PROXY": "x.test"], "http://a:1080", "http://a:1080"),
            ([:], nil, nil),
        ] as [([String: String], String?, String?)]
    )
    func environment(_ variables: [String: String], _ http: String?, _ https: String?) throws {
        let proxies = try Network.Proxies.environment(variables)
        #expect(try proxies.proxy(for: origin("http://x.test"))?.description == http)
        #expect(try proxies.proxy(for: origin("https://x.test"))?.description == https)
    }

    @Test("unreadable in the environment are refused by the variable's name, without its value")
    func unreadableEnvironment() {
        #expect {
            try Network.Proxies.environment(["https_proxy": "bad://user:hunter2@x"])
        } throws: { error in
            "\(error)".contains("https_proxy") && !"\(error)".contains("hunter2")
        }
    }
}
