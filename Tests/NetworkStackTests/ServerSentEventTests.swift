import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("Lines and server-sent events")
struct ServerSentEventTests {
    private typealias Failure = HTTPFetchError<HTTP.Response, any Error>
    private typealias Events = ServerSentEventStream<Failure>

    /// The lines of a text that arrives in pieces of a length.
    private func lines(
        _ text: String,
        _ ending: LineBuffer.Ending,
        by length: Int,
        keepsRest: Bool = false,
        limit: Int = 100
    ) throws -> [String] {
        var buffer = LineBuffer(ending: ending, keepsRest: keepsRest, limit: limit)
        var (rest, lines) = (Array(text.utf8)[...], [String]())
        while !rest.isEmpty {
            buffer.append(rest.prefix(length))
            rest = rest.dropFirst(length)
            while let line = try buffer.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        }
        if let line = try buffer.rest() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    /// The events of a text that arrives in one piece.
    private func events(_ text: String, limit: Int = 1000) throws -> [ServerSentEvent] {
        var parser = ServerSentEventParser(limit: limit)
        return try lines(text, .lineFeedsAndReturns, by: 1000, limit: limit).compactMap {
            guard case .event(let event) = try parser.take(Array($0.utf8)[...]) else { return nil }
            return event
        }
    }

    /// The first element of one loop over a sequence, and then all elements of a second loop.
    private func inTwoLoops<Whole: AsyncSequence>(_ whole: Whole) async throws -> [Whole.Element] {
        var elements: [Whole.Element] = []
        for try await element in whole {
            elements.append(element)
            break
        }
        for try await element in whole { elements.append(element) }
        return elements
    }

    /// A stream that has arrived in one piece.
    private func stream(_ text: String) -> ByteStream<Failure> {
        let receiver = StreamReceiver()
        _ = receiver.take(Data(text.utf8))
        receiver.finish(trailers: nil, metrics: .init())
        return ByteStream(receiver)
    }

    @Test(
        "a second loop continues at the first one's position, and loses no bytes read ahead"
    )
    func secondLoops() async throws {
        #expect(try await inTwoLoops(LineStream(stream("a\nb\nc"), limit: 10) { _ in .cancelled }) == ["a", "b", "c"])
        let numbers = JSONLineStream<Int, Failure>(
            lines: LineStream(stream("1\n2\n3\n"), limit: 10) { _ in .cancelled },
            decoder: { JSONDecoder() }
        )
        #expect(try await inTwoLoops(numbers) == [1, 2, 3])
        let text = "id: 7\nretry: 1500\ndata: a\n\ndata: b\n\ndata: c\n\n"
        let expected = ["a", "b", "c"].map { ServerSentEvent(data: $0, id: "7", retry: .milliseconds(1500)) }
        #expect(try await inTwoLoops(Events(stream(text), limit: 100) { _ in .cancelled }) == expected)
    }

    @Test("the reconnection state includes events without data, and no truncated event")
    func connectingAgain() async throws {
        let events = Events(
            stream("id: 1\ndata: a\n\nretry: 50\n\nid: 2\n\nid: 3\ndata: b\nretry: 1"),
            limit: 100
        ) { _ in .cancelled }
        #expect(events.lastEventID == nil && events.retry == nil)
        var received: [String] = []
        for try await event in events { received.append(event.data) }
        #expect(received == ["a"])
        #expect(events.lastEventID == "2")
        #expect(events.retry == .milliseconds(50))
        let others = Events(stream("id: 1\nid\ndata: a\n\n"), limit: 100) { _ in .cancelled }
        for try await event in others { #expect(event.id.isEmpty) }
        #expect(others.lastEventID?.isEmpty == true)
    }

    @Test("a line ends at LF or CRLF, for events at CR too, in any pieces", arguments: [1, 2, 3, 50])
    func endings(length: Int) throws {
        let text = "a\nb\r\n\r\n\nc\rd\r\r\ne"
        #expect(try lines(text, .lineFeeds, by: length) == ["a", "b", "", "", "c\rd\r", "e"])
        #expect(try lines(text, .lineFeedsAndReturns, by: length) == ["a", "b", "", "", "c", "d", ""])
        #expect(try lines("", .lineFeeds, by: length) == [])
        #expect(try lines("a\r", .lineFeedsAndReturns, by: length) == ["a"])
        for rest in ["a\r\n", "a\r", "a\n", "a"] {
            #expect(try lines(rest, .lineFeedsAndReturns, by: length, keepsRest: true) == ["a"])
        }
        #expect(try lines("a\r", .lineFeeds, by: length) == ["a\r"], "which nothing follows")
    }

    @Test("a line at the limit passes, and a longer one fails before its end", arguments: [1, 2, 50])
    func longLines(length: Int) throws {
        #expect(try lines("12345\nx", .lineFeeds, by: length, limit: 5) == ["12345", "x"])
        for ending in [LineBuffer.Ending.lineFeeds, .lineFeedsAndReturns] {
            #expect(try lines("12345\r\nx\n", ending, by: length, limit: 5) == ["12345", "x"])
            #expect(throws: LineTooLong(limit: 5)) { try lines("123456\r\n", ending, by: length, limit: 5) }
        }
        #expect(throws: LineTooLong(limit: 5)) { try lines("1234\r6\n", .lineFeeds, by: length, limit: 5) }
        #expect(throws: LineTooLong(limit: 5)) { try lines("123456", .lineFeeds, by: length, limit: 5) }
        #expect(throws: LineTooLong(limit: 5)) { try lines("x\n123456\n", .lineFeeds, by: length, limit: 5) }
        var endless = LineBuffer(ending: .lineFeeds, limit: 5)
        endless.append("12345".utf8)
        var line = try endless.next()
        #expect(line == nil)
        endless.append("6".utf8)
        #expect(throws: LineTooLong(limit: 5)) { line = try endless.next() }
    }

    @Test("every field counts by the standard")
    func fields() throws {
        let text = """
            \u{FEFF}: hello
            id: 7
            event: tick
            retry: 1500
            data: a
            data:  b
            data
            unknown: x

            event: of nothing

            data:c
            retry: +1
            retry: 9999999999999999999
            id: not\u{0}this

            id
            data

            data: cut
            """
        #expect(
            try events(text) == [
                ServerSentEvent(event: "tick", data: "a\n b\n", id: "7", retry: .milliseconds(1500)),
                ServerSentEvent(data: "c", id: "7", retry: .milliseconds(1500)),
                ServerSentEvent(data: "", retry: .milliseconds(1500)),
            ]
        )
    }

    @Test("a colon or a space counts even before a combining mark")
    func combiningMarks() throws {
        #expect(try events("data:\u{301}a\n\n").map(\.data) == ["\u{301}a"])
        #expect(try events("data: \u{93F}a\n\n").map(\.data) == ["\u{93F}a"])
        #expect(try events("\u{FEFF}data: a\n\n").map(\.data) == ["a"])
        #expect(
            try events("data: a\n\u{FEFF}data: b\n\n").map(\.data) == ["a"],
            "only the first byte order mark is removed"
        )
    }

    @Test("a lone return ends a line and an event")
    func returns() throws {
        #expect(try events("data: a\rdata: b\r\rdata: c\r\n\r\n").map(\.data) == ["a\nb", "c"])
    }

    @Test("an endless event fails at the limit, and comments do not count")
    func longEvents() throws {
        #expect(try events("data: 12345\ndata: 12345\n\n", limit: 11).map(\.data) == ["12345\n12345"])
        let line = "data: 12345678\n"
        #expect(try events(String(repeating: line, count: 4) + "\n", limit: 40).first?.data.utf8.count == 35)
        #expect(throws: EventTooLong(limit: 40)) { try events(String(repeating: line, count: 5), limit: 40) }
        #expect(throws: EventTooLong(limit: 40)) { try events(String(repeating: "data\n", count: 100), limit: 40) }
        #expect(try events(String(repeating: ": comment\n", count: 100) + "data: a\n\n", limit: 40).count == 1)
        #expect(try events(String(repeating: line + "\n", count: 100), limit: 40).count == 100)
        var parser = ServerSentEventParser(limit: 5)
        for rest in ["data: 123456", "", "data: 1", ""] {
            #expect(throws: EventTooLong(limit: 5)) { _ = try parser.take(Array(rest.utf8)[...]) }
        }
    }

    @Test("the rest of a text is delivered once, also if more follows")
    func rest() async {
        await #expect(processExitsWith: .success) {
            var buffer = LineBuffer(ending: .lineFeeds, limit: 100)
            buffer.append("a".utf8)
            try #require(try buffer.next() == nil)
            buffer.append("b\nc\n".utf8)
            try #require(try buffer.rest().map { String(decoding: $0, as: UTF8.self) } == "ab\nc\n")
            try #require(try buffer.next() == nil)
        }
    }

    /// In a separate process, which a range that is none would end.
    @Test("lines that two tasks read are whole, or the second reader fails")
    func twoReaders() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<1000 {
                let receiver = StreamReceiver()
                let lines = LineStream<Failure>(ByteStream(receiver), limit: 100) { _ in .cancelled }
                let got = Lock<Set<String>>([])
                let readers = (0..<2).map { _ in
                    Task {
                        while true {
                            var iterator = lines.makeAsyncIterator()
                            do {
                                guard let line = try await iterator.next() else { return }
                                _ = got.withLock { $0.insert(line) }
                            } catch {
                                // The other reader goes on.
                                await Task.yield()
                            }
                        }
                    }
                }
                for number in 0..<400 {
                    _ = receiver.take(Data("\(number)a\n".utf8))
                    if number.isMultiple(of: 3) { await Task.yield() }
                }
                receiver.finish(trailers: nil, metrics: .init())
                for reader in readers { await reader.value }
                try #require(got.withLock { $0 } == Set((0..<400).map { "\($0)a" }))
            }
        }
    }

    @Test("events have one reader, also while it is between two lines", .timeLimit(.minutes(1)))
    func secondReader() async throws {
        let (hasFailed, source) = (Gate(), Lock<Events?>(nil))
        let events = Events(
            stream("data: a\n: now\ndata: b\n\ndata: c\n\n"),
            limit: 100,
            onComment: { _ in
                // It runs here until it has to wait, and nothing lets it wait.
                Task.immediate {
                    var others = source.withLock { $0 }?.makeAsyncIterator()
                    do { _ = try await others?.next() } catch Failure.concurrentRead { hasFailed.open() }
                }
            },
            undecodable: { _ in .cancelled }
        )
        source.withLock { $0 = events }
        defer { source.withLock { $0 = nil } }
        #expect(try await events.reduce(into: []) { $0.append($1.data) } == ["a\nb", "c"])
        #expect(hasFailed.isOpen)
    }
}
