import Foundation
import Testing

@testable import NetworkStack

@Suite("Event streams and their options")
struct EventStreamTests {
    private typealias Failure = HTTPFetchError<HTTP.Response, any Error>
    private typealias Events = ServerSentEventStream<Failure>
    private typealias Decoding = ModelDecoding<Events, ByteStream<Failure>, HTTP.Response>

    /// A stream that has arrived in one piece.
    private func stream(_ text: String) -> ByteStream<Failure> {
        let receiver = StreamReceiver()
        _ = receiver.take(Data(text.utf8))
        receiver.finish(trailers: nil, metrics: .init())
        return ByteStream(receiver)
    }

    private func response(_ type: String?, status: HTTP.StatusCode = 200) throws -> HTTP.Response {
        let headers: HTTP.Headers = type.map { [.contentType: $0] } ?? [:]
        return HTTP.Response(status: status, headers: headers, url: try #require(URL(string: "http://a.test/")))
    }

    @Test(
        "are read where the response declares one",
        arguments: [
            ("text/event-stream", true), ("Text/Event-Stream;charset=utf-8", true),
            ("text/event-stream; charset=", true),
            ("text/plain", false), ("application/json; charset=utf-8", false), ("text/event-stream-2", false),
            ("nonsense", false),
            (nil, false),
        ] as [(String?, Bool)]
    )
    func contentTypes(_ type: String?, _ isRead: Bool) async throws {
        let text = "data: a\n\n"
        do {
            let events = try Decoding.serverSentEvents().decode(stream(text), response(type))
            for try await event in events { #expect(event.data == "a") }
            #expect(isRead)
        } catch let error as NotAnEventStream {
            #expect(!isRead)
            #expect(error.contentType == type.flatMap { HTTP.MediaType($0) })
            #expect(try await error.body() == Data(text.utf8))
            #expect("\(error)".contains("not text/event-stream"))
        }
        let all = try Decoding.serverSentEvents(options: .anyContentType).decode(stream(text), response(type))
        #expect(try await all.reduce(into: []) { $0.append($1.data) } == ["a"])
    }

    @Test("are empty where a status has no content", arguments: [204, 205] as [HTTP.StatusCode])
    func noContent(_ status: HTTP.StatusCode) async throws {
        let events = try Decoding.serverSentEvents().decode(stream(""), response(nil, status: status))
        for try await _ in events { Issue.record("There is an event") }
    }

    @Test(
        "deliver an event without its blank line only on request, otherwise by the standard",
        arguments: [
            ("data: a\n\ndata: b", ["a", "b"]), ("data: a\n\ndata: b\n", ["a", "b"]),
            ("data: a\n\ndata: b\r", ["a", "b"]),
            ("data: a\n\nid: 7", ["a"]), ("data: a\n\n", ["a"]), ("data: b\r\n\r", ["b"]), ("da", []), ("data", [""]),
            ("", []), (": only a comment", []),
        ] as [(String, [String])]
    )
    func unfinished(_ text: String, _ expected: [String]) async throws {
        let events = Events(stream(text), limit: 100, options: .unfinishedEvent, undecodable: { _ in .cancelled })
        #expect(try await events.reduce(into: []) { $0.append($1.data) } == expected)
        for try await _ in events { Issue.record("It ends twice") }
        if text.contains("id: 7") { #expect(events.lastEventID == "7") }
        let whole = Events(stream(text), limit: 100, undecodable: { _ in .cancelled })
        let count =
            text.hasSuffix("\n\n") || text.hasSuffix("\r\n\r") ? expected.count : text.hasPrefix("data: a\n\n") ? 1 : 0
        #expect(try await whole.reduce(into: []) { $0.append($1.data) } == Array(expected.prefix(count)))
    }

    @Test("report comments in their order, among the events")
    func comments() async throws {
        let seen = Lock<[String]>([])
        let text = "\u{FEFF}: first\n:\ndata: a\n:within\n\n:  two blanks\ndata: b\n\n: last"
        let events = Events(
            stream(text),
            limit: 100,
            onComment: { comment in seen.withLock { $0.append(comment) } },
            undecodable: { _ in .cancelled }
        )
        for try await event in events { seen.withLock { $0.append("event \(event.data)") } }
        #expect(seen.withLock { $0 } == ["first", "", "within", "event a", " two blanks", "event b"])
    }
}
