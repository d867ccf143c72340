import Foundation
import FoundationNetworking
import Testing

@testable import NetworkStack
@testable import URLSessionStack

/// URLSession trusts the system's authorities only, so a server of a test cannot provide the response through a tunnel.
@Suite("The response through a tunnel")
struct AnswerTests {
    private static let url = "https://a.test/"

    /// The answer to a GET whose heads may all be those of tunnels.
    private static func answer() throws -> Answer {
        let request = try HTTP.Request(url: url)
        let hop = HTTPHop(
            request: request,
            origin: try HTTP.Origin(of: request.url),
            urlText: url,
            options: Shared(HTTP.Options()),
            trust: .ordinary,
            source: nil,
            allowsWithholding: true
        )
        return Answer(hop, holds: .init(challenges: false, tunnels: true))
    }

    private static func response(_ status: Int, _ fields: [String: String] = [:]) throws -> URLResponse {
        try #require(
            HTTPURLResponse(url: URLText.parse(url), statusCode: status, httpVersion: nil, headerFields: fields)
        )
    }

    /// A text for each event.
    private static func texts(_ events: [Answer.Event]) -> [String] {
        events.map { event in
            switch event {
            case .head(let response): "\(response.status)"
            case .body(let data): "\(data.count) bytes"
            case .finished: "finished"
            default: "\(event)"
            }
        }
    }

    @Test("is the last head, even of a redirect to an invalid URL, which URLSession reports late")
    func redirectToNowhere() throws {
        let (tunnel, redirect) = (try Self.response(200), try Self.response(302, ["Content-Length": "0"]))
        var answer = try Self.answer()
        #expect(Self.texts(answer.received(tunnel)) == [])
        #expect(Self.texts(answer.completed(redirect, nil, hasSent: false)) == ["302", "finished"])
    }

    @Test(
        "is a failure if URLSession has lost the body of a redirect to an invalid URL",
        arguments: [["Content-Length": "9"], ["Transfer-Encoding": "chunked"], [:]]
    )
    func lostContent(fields: [String: String]) throws {
        var answer = try Self.answer()
        let events = answer.completed(try Self.response(302, fields), nil, hasSent: false)
        guard case .failed(.transport(let error))? = events.last else {
            Issue.record("The events are \(Self.texts(events))")
            return
        }
        #expect(error.code == .redirectToNonExistentLocation && error.kind == .malformed)
    }

    @Test("is delivered once if nothing follows its head")
    func noContent() throws {
        let (tunnel, response) = (try Self.response(200), try Self.response(204))
        var answer = try Self.answer()
        for head in [tunnel, response] { #expect(Self.texts(answer.received(head)) == []) }
        #expect(Self.texts(answer.completed(response, nil, hasSent: false)) == ["204", "finished"])
    }

    @Test("is delivered with its first bytes, also of an error, without another protocol's bytes")
    func content() throws {
        for (status, expected) in [(200, ["200", "3 bytes"]), (404, ["404", "3 bytes"]), (101, ["101"])] {
            var answer = try Self.answer()
            for head in [200, status] { #expect(Self.texts(answer.received(try Self.response(head))) == []) }
            #expect(Self.texts(answer.received(Data("abc".utf8))) == expected)
        }
    }
}
