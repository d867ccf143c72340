import Foundation
import Testing

@testable import NetworkStack

@Suite("A request is checked before anything is sent")
struct RequestCheckTests {
    private func refusal(_ change: (inout HTTP.Request) -> Void) throws -> String? {
        var request = try HTTP.Request(url: "http://host.test/")
        change(&request)
        do {
            _ = try request.checked()
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("a method is a token", arguments: ["", "GE T", "GET\r\nX: y", "GET/", "\u{FC}"])
    func methods(_ name: String) throws {
        #expect(try refusal { $0.method = .init(rawValue: name) }?.contains("token") == true)
    }

    @Test(
        "a URL's user info becomes credentials byte by byte, whatever its encoding",
        arguments: [
            ("J%F6rg:p%E4", [0x4A, 0xF6, 0x72, 0x67, 0x3A, 0x70, 0xE4]), ("a%3Ab:c:d", Array("a:b:c:d".utf8)),
            ("a", Array("a:".utf8)), (":b", Array(":b".utf8)), ("%C3%A9:x%25", Array("\u{E9}:x%".utf8)),
        ] as [(String, [UInt8])]
    )
    func userInfo(_ userInfo: String, _ credentials: [UInt8]) throws {
        let (request, _, text, _) = try HTTP.Request(url: "http://\(userInfo)@h.test/").checked()
        #expect(request.headers[.authorization] == "Basic \(Data(credentials).base64EncodedString())")
        #expect(text == "http://h.test/")
    }

    @Test("CONNECT is refused, in capitals and only so")
    func connect() throws {
        #expect(try refusal { $0.method = "CONNECT" } != nil)
        #expect(try refusal { $0.method = "connect" } == nil)
    }

    @Test("HEAD and TRACE have no body", arguments: [HTTP.Method.HEAD, .TRACE])
    func contentless(_ method: HTTP.Method) throws {
        #expect(try refusal { ($0.method, $0.body) = (method, .bytes(Data("x".utf8))) } != nil)
        #expect(try refusal { $0.method = method } == nil)
    }

    @Test(
        "header fields that could break the message are refused",
        arguments: [
            ("X", "a\r\nInjected: b"), ("X", "a\nb"), ("X", "a\0b"), ("X: y", "a"), ("", "a"), ("X y", "a"),
            ("X\r\nY", "a"),
            ("Transfer-Encoding", "chunked"), ("content-length", "5"), ("Upgrade", "websocket"),
            ("Connection", "upgrade"), ("Host", "a.test,b.test"), ("Host", "a.test b.test"), ("Host", "a.test\t"),
        ]
    )
    func fields(_ name: String, _ value: String) throws {
        #expect(try refusal { $0.headers.append(value, for: HTTP.HeaderName(name)) } != nil)
    }

    @Test(
        "header fields that agree with the message are accepted",
        arguments: [
            ("X", ""), ("X", "tab\there"), ("X", "\u{FC}"), ("Connection", "Close"), ("Connection", "keep-alive"),
            ("Content-Length", "0"), ("Host", "other.test"),
        ]
    )
    func accepted(_ name: String, _ value: String) throws {
        #expect(try refusal { $0.headers.append(value, for: HTTP.HeaderName(name)) } == nil)
    }

    @Test("a Content-Length with the body's length is accepted, and no other")
    func contentLength() throws {
        for (value, isAccepted) in [("4", true), ("5", false), ("four", false), ("4, 4", false)] {
            let reason = try refusal {
                ($0.method, $0.body) = (.POST, .bytes(Data("four".utf8)))
                $0.headers[.contentLength] = value
            }
            #expect((reason == nil) == isAccepted, "\(value)")
        }
    }

    @Test(
        "illegal characters of a URL are escaped, and escapes stay unchanged",
        arguments: [
            ("http://a.test/b%20c d?e[]=%2F f#g%20h i", "http://a.test/b%20c%20d?e%5B%5D=%2F%20f#g%20h%20i"),
            ("http://a.test/100%?b=%zz%41", "http://a.test/100%25?b=%25zz%41"),
            ("http://u:p%40@[::1]:81/\u{FC}%C3", "http://u:p%40@[::1]:81/%C3%BC%C3"),
            ("http://a.test?b=\"%22", "http://a.test?b=%22%22"), ("http://a.test", "http://a.test"),
        ]
    )
    func texts(_ text: String, _ expected: String) throws {
        #expect(try HTTP.Request(url: text).url.absoluteString == expected)
    }

    @Test("a second Host is refused")
    func hosts() throws {
        #expect(try refusal { $0.headers = ["Host": "a.test", "host": "b.test"] } != nil)
    }
}
