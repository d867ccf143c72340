import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The repeats of a stack are bounded, however many connections die, and are in the metrics.
    static let boundedRepeats: [ConformanceCheck] = [
        ConformanceCheck("A GET whose keep-alive connections die is sent at most three times", needs: [.network]) {
            try await sendsThreeTimesAtMost($0, HTTP.Options())
        },
        ConformanceCheck(
            "A GET whose HTTP/2 connections die is sent at most three times",
            needs: [.network, .http2PriorKnowledge, .strictReplies]
        ) { subject in
            for dies in [ScriptedServer.Step.close, .reset] {
                let (count, leave, known, sent) = (4, Gate(), Tally(), Tally())
                let server = try http2Server { _ in
                    [
                        // A connection carries one request at a time, so there are as many as requests.
                        .send([HTTP2Frame(.settings, [0, 3, 0, 0, 0, 1])]),
                        .run { connection in
                            try receiveRequest(andAnswersTo: 2, on: connection)
                            known.enter()
                        },
                        .wait(for: leave), .send([.head(200, on: 1), .data("ok", on: 1, endsStream: true)]),
                        .receiveStream, .run { _ in sent.enter() }, dies,
                    ]
                }
                let stack = try subject.stack { $0.options.version = .http2PriorKnowledge }
                var observations: [Observation] = []
                for number in 1...count {
                    observations.append(try stack.observe(server.url("/\(number)")))
                    try await eventually("the client knows the limit", within: .seconds(10)) { known.current == number }
                }
                leave.open()
                for observation in observations { _ = try await observation.onlyOutcome().value() }
                _ = try await stack.observe(server.url("/get")).onlyOutcome()
                try expect((1...3).contains(sent.most), "The request was sent \(sent.most) times")
            }
        },
        ConformanceCheck(
            "Many streams of two dying HTTP/2 connections open few others",
            needs: [.network, .http2PriorKnowledge, .strictReplies]
        ) { subject in
            let count = 20
            let server = try http2Server { index in
                let dies: ScriptedServer.Script = [
                    .run { try $0.receiveHeaders() }, .pause(.milliseconds(300)), .close,
                ]
                return index == 0 ? [.answerStream] + dies : index == 1 ? dies : [.repeat([.answerStream])]
            }
            let stack = try subject.stack { $0.options.version = .http2PriorKnowledge }
            _ = try await stack.text(server.url())
            let observations = try (1...count).map { try stack.observe(server.url("/\($0)")) }
            var answered = 0
            for observation in observations {
                if case .success = try await observation.onlyOutcome() { answered += 1 }
            }
            // The request that opened the second connection is not repeated: that was a new one.
            try expect(answered >= count - 1, "\(answered) of \(count) requests were answered")
            try expect(server.snapshot.accepted <= 4, "\(server.snapshot.accepted) connections")
        },
        ConformanceCheck(
            "Streams of a dead HTTP/2 connection open no connection beyond the limit",
            needs: [.network, .http2PriorKnowledge, .strictReplies]
        ) { subject in
            let count = 20
            let server = try http2Server { index in
                // Later connections answer nothing for a while. Until then, no stream can join them with libcurl 8.13 to 8.15.
                guard index == 0 else { return [.pause(.milliseconds(300)), .repeat([.answerStream])] }
                return [.answerStream] + (1...count).map { _ in .receiveStream } + [.close]
            }
            let stack = try subject.stack {
                $0.options.version = .http2PriorKnowledge
                $0.connections.perHost = 2
            }
            _ = try await stack.text(server.url())
            let observations = try (1...count).map { try stack.observe(server.url("/\($0)")) }
            for observation in observations { _ = try await observation.onlyOutcome().value() }
            try expect(server.snapshot.accepted <= 1 + 2, "\(server.snapshot.accepted) connections")
        },
        ConformanceCheck(
            "Replacements of dead keep-alive connections are kept and used again",
            needs: [.network]
        ) { subject in
            for dies in [ScriptedServer.Step.close, .reset] {
                let (count, leave) = (3, Gate())
                let server = try ScriptedServer { index in
                    index < count
                        ? [.receiveHead, .wait(for: leave), .send(kept), .receiveRequest, dies]
                        : [.repeat([.receiveHead, .send(kept)])]
                }
                let client = try subject.client()
                async let fetched: Void = together(count) { _ = try await client.get(server.url("/\($0)")) }
                try await server.waitUntil { $0.requests.count == count }
                leave.open()
                try await fetched
                // Each fetch may use a connection that dies, and replace it, until none of the first remains.
                var rest = 0
                for _ in 1...20 where rest < 3 {
                    let before = server.snapshot.accepted
                    _ = try await client.get(server.url("/again"))
                    rest = server.snapshot.accepted == before ? rest + 1 : 0
                }
                try expect(server.snapshot.accepted > count, "No dead connection was replaced")
                try expectEqual(rest, 3, "consecutive fetches without a new connection")
            }
        },
        ConformanceCheck(
            "The metrics count how often a request was repeated",
            needs: [.network, .idempotentRetriesOnly]
        ) { subject in
            let server = try ScriptedServer { index in
                index == 0
                    ? [.receiveHead, .send(kept), .receiveRequest, .close]
                    : [.receiveHead, .send(kept), .receiveHead, .send(kept), .waitForClose]
            }
            let client = try subject.client()
            var counts: [Int?] = []
            for _ in 1...3 { counts.append(try await client.get(server.url()).response.metrics.resends) }
            try expectEqual(counts, [0, 1, 0], "sent again")
        },
        ConformanceCheck(
            "The metrics count how often a request was repeated over HTTP/2",
            needs: [.network, .http2PriorKnowledge, .strictReplies, .idempotentRetriesOnly]
        ) { subject in
            for ending: [ScriptedServer.Step] in [
                [.close], [.send([.goAway(lastStream: 1)]), .close], [.send([.reset(3, code: 7)]), .waitForClose],
            ] {
                let server = try http2Server { index in
                    index == 0 ? [.answerStream, .receiveStream] + ending : [.repeat([.answerStream])]
                }
                let client = try subject.http2Client()
                var counts: [Int?] = []
                for _ in 1...3 { counts.append(try await client.get(server.url()).response.metrics.resends) }
                try expectEqual(counts, [0, 1, 0], "sent again after \(ending)")
            }
        },
    ]

    /// Reads a request, and so many acknowledgements of settings.
    private static func receiveRequest(andAnswersTo settings: Int, on connection: ScriptedServer.Connection) throws {
        var (left, isComplete) = (settings, false)
        while left > 0 || !isComplete {
            let frame = try connection.receiveFrame()
            let isFlagged = frame.flags & HTTP2Frame.endStream != 0
            switch frame.kind {
            case .settings where isFlagged: left -= 1
            case .settings: try connection.send([.settingsAnswer])
            case .headers where isFlagged: isComplete = true
            default: break
            }
        }
    }

    private static let kept = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Twelve connections are kept, and each dies when it is used again.
    private static func sendsThreeTimesAtMost(_ subject: ConformanceSubject, _ options: HTTP.Options) async throws {
        for dies in [ScriptedServer.Step.close, .reset] {
            let (count, leave) = (12, Gate())
            let server = try ScriptedServer { _ in
                [.receiveHead, .wait(for: leave), .send(kept), .receiveRequest, dies]
            }
            let client = try subject.client()
            async let fetched: Void = together(count) { _ = try await client.get(server.url("/\($0)")) }
            try await server.waitUntil { $0.requests.count == count }
            leave.open()
            try await fetched
            _ = try await client.outcome(of: HTTP.Request(url: server.url("/get")))
            let sent = server.requests.count { $0.path == "/get" }
            try expect((1...3).contains(sent), "The request was sent \(sent) times")
        }
    }
}
