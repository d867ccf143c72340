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
            guard case .invalidRequest(let reason) = error else { throw error }
            return reason
        }
    }

    @Test("a method is a token", arguments: ["", "GE T", "GET\r\nX: y", "GET/", "\u{FC}"])
    func methods(_ name: String) throws {
        #expect(try refusal { $0.method = .init(rawValue: name) }?.contains("token") == true)
    }

    @Test("CONNECT is refused, in capitals and only so")
    func connect() throws {
        #expect(try refusal { $0.method = "CONNECT" } != nil)
        #expect(try refusal { $0.method = "connect" } == nil)
    }

    @Test("HEAD and TRACE have no content", arguments: [HTTP.Method.HEAD, .TRACE])
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
            ("Connection", "upgrade"),
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

    @Test("a Content-Length that says the body's length is accepted, and only that")
    func contentLength() throws {
        for (value, isAccepted) in [("4", true), ("5", false), ("four", false), ("4, 4", false)] {
            let reason = try refusal {
                ($0.method, $0.body) = (.POST, .bytes(Data("four".utf8)))
                $0.headers[.contentLength] = value
            }
            #expect((reason == nil) == isAccepted, "\(value)")
        }
    }

    @Test("there is one Host at most")
    func hosts() throws {
        #expect(try refusal { $0.headers = ["Host": "a.test", "host": "b.test"] } != nil)
    }
}
