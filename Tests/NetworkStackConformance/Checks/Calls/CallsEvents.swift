import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Server-sent events across connections.
    static let eventCalls: [ConformanceCheck] = [
        ConformanceCheck("An event source connects again with the last event's identifier") { subject in
            let peer = try subject.serve { request in
                switch request["last-event-id"] {
                case nil: events("id: 1\ndata: a\n\n")
                case "1": events("id: 2\nevent: tick\ndata: b\n\ndata: c\n\n")
                default: .status(204)
                }
            }
            let stack = try subject.stack()
            let seen = try await bounded {
                var seen: [ServerSentEvent] = []
                for try await event in try await stack.events(from: peer.url("/"), reconnection: atOnce) {
                    seen.append(event)
                }
                return seen
            }
            try expectEqual(seen.map(\.data), ["a", "b", "c"], "the data")
            try expectEqual(seen.map(\.event), ["message", "tick", "message"], "the events")
            try expectEqual(peer.requests().map { $0["last-event-id"] }, [nil, "1", "2"], "the identifiers")
            try expectEqual(
                peer.requests().map { $0["accept"] },
                Array(repeating: "text/event-stream", count: 3),
                "the media types"
            )
        },
        ConformanceCheck("A 204 or 205 ends an event source") { subject in
            for status in [204, 205] {
                let peer = try subject.serve { request in
                    request["last-event-id"] == nil ? events("id: 1\ndata: a\n\n") : .status(status)
                }
                let stack = try subject.stack()
                let count = try await bounded {
                    var count = 0
                    for try await _ in try await stack.events(from: peer.url("/"), reconnection: atOnce) { count += 1 }
                    return count
                }
                try expectEqual(count, 1, "the events")
                try expectEqual(peer.requests().count, 2, "the connections until the \(status)")
            }
        },
        ConformanceCheck("An event source may be one connection") { subject in
            let peer = try subject.serve { _ in events("data: a\n\n") }
            let stack = try subject.stack()
            let seen = try await bounded {
                var seen: [String] = []
                for try await event in try await stack.events(from: peer.url("/"), reconnects: false) {
                    seen.append(event.data)
                }
                return seen
            }
            try expectEqual(seen, ["a"], "the data")
            try expectEqual(peer.requests().count, 1, "the connections")
        },
        ConformanceCheck("An event source waits as the server asks") { subject in
            let clock = VirtualClock()
            let peer = try subject.serve { request in
                request["last-event-id"] == nil ? events("id: 1\nretry: 90000\ndata: a\n\n") : .status(204)
            }
            let stack = try subject.stack()
            var policy = EventReconnection()
            policy.clock = clock
            let source = try await bounded { [policy] in
                try await stack.events(from: peer.url("/"), reconnection: policy)
            }
            let reading = Task {
                var count = 0
                for try await _ in source { count += 1 }
                return count
            }
            try await clock.sleepers(1, within: .seconds(20))
            try expectEqual(clock.sleeps, [.seconds(90)], "the waits")
            clock.advance(by: .seconds(90))
            try expectEqual(try await bounded { try await reading.value }, 1, "the events")
            try expectEqual(peer.requests().count, 2, "the connections")
        },
        ConformanceCheck("An event source ends after connections without an event") { subject in
            let peer = try subject.serve { _ in events(": nothing\n\n") }
            let stack = try subject.stack()
            try await bounded {
                var policy = atOnce
                policy.limit = 3
                for try await event in try await stack.events(from: peer.url("/"), reconnection: policy) {
                    throw ConformanceFailure("The event source delivered \(event)")
                }
            }
            try expectEqual(peer.requests().count, 4, "the connections")
        },
        ConformanceCheck("Only connections without an event count towards an event source's limit") { subject in
            for (limit, connections) in [(0, 2), (1, 3)] {
                let count = Lock(0)
                let peer = try subject.serve { _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    return events(number == 1 ? "data: a\n\n" : "")
                }
                let stack = try subject.stack()
                let seen = try await bounded {
                    var (policy, seen) = (atOnce, 0)
                    policy.limit = limit
                    for try await _ in try await stack.events(from: peer.url("/"), reconnection: policy) { seen += 1 }
                    return seen
                }
                try expectEqual(seen, 1, "the events")
                try expectEqual(peer.requests().count, connections, "the connections with a limit of \(limit)")
            }
        },
        ConformanceCheck("An event of a later connection has the last identifier") { subject in
            let peer = try subject.serve { request in
                request["last-event-id"] == nil
                    ? events("retry: 2\nid: 7\ndata: a\n\nretry: 3\nid: 8\ndata: cut")
                    : events("data: b\n\nid\ndata: c\n\n")
            }
            let stack = try subject.stack()
            let seen = try await bounded {
                let source = try await stack.events(from: peer.url("/"), reconnection: atOnce)
                var (events, seen) = (source.makeAsyncIterator(), [ServerSentEvent]())
                while seen.count < 3, let event = try await events.next() { seen.append(event) }
                try expectEqual(source.lastEventID, "", "the source's identifier")
                return seen
            }
            try expectEqual(seen.map(\.data), ["a", "b", "c"], "the data")
            try expectEqual(seen.map(\.id), ["7", "7", ""], "the identifiers")
            try expectEqual(seen.map(\.retry), [2, 3, 3].map { .milliseconds($0) }, "the waits")
            try expectEqual(peer.requests().map { $0["last-event-id"] }, [nil, "7"], "the identifiers sent")
        },
        ConformanceCheck("An identifier that no header field can carry does not count") { subject in
            let peer = try subject.serve { request in
                request["last-event-id"] == nil ? events("id: 7\ndata: a\n\nid: a\u{1}b\ndata: b\n\n") : .status(204)
            }
            let stack = try subject.stack()
            let seen = try await bounded {
                var seen: [String] = []
                for try await event in try await stack.events(from: peer.url("/"), reconnection: atOnce) {
                    seen.append(event.id)
                }
                return seen
            }
            try expectEqual(seen, ["7", "7"], "the identifiers")
            try expectEqual(peer.requests().map { $0["last-event-id"] }, [nil, "7"], "the identifiers sent")
        },
        ConformanceCheck("A reset identifier replaces that of the caller's request") { subject in
            let count = Lock(0)
            let peer = try subject.serve { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return number == 1 ? events("id\ndata: a\n\n") : .status(204)
            }
            let stack = try subject.stack()
            try await bounded {
                let request = HTTP.RequestBuilder.get(peer.url("/")).header("Last-Event-ID", "41")
                for try await event in try await stack.events(for: request, reconnection: atOnce) {
                    try expectEqual(event.id, "", "the identifier")
                }
            }
            try expectEqual(peer.requests().map { $0["last-event-id"] }, ["41", nil], "the identifiers sent")
        },
        ConformanceCheck("An event source refuses a second reader while it waits") { subject in
            let clock = VirtualClock()
            let peer = try subject.serve { request in
                request["last-event-id"] == nil ? events("id: 1\ndata: a\n\n") : .status(204)
            }
            let stack = try subject.stack()
            let source = try await bounded {
                try await stack.events(from: peer.url("/"), reconnection: .init(clock: clock))
            }
            let reading = Task {
                var count = 0
                for try await _ in source { count += 1 }
                return count
            }
            try await clock.sleepers(1, within: .seconds(20))
            let error = try await callFailure { for try await _ in source {} }
            guard case .concurrentRead = error else {
                throw ConformanceFailure("The second reader failed with \(error)")
            }
            clock.advance(by: .seconds(3))
            try expectEqual(try await bounded { try await reading.value }, 1, "the events")
            try expectEqual(peer.requests().count, 2, "the connections")
        },
        ConformanceCheck("An event source refuses another media type and keeps its body") { subject in
            let peer = try subject.serve { _ in .json(#"{"error":"no"}"#) }
            let stack = try subject.stack()
            try await expectNoEventStream(callFailure { _ = try await stack.events(from: peer.url("/")) })
        },
        ConformanceCheck("An event source that connects again refuses another media type") { subject in
            try await expectNoEventStream(failureOfSecond(connectionOf: subject, .json(#"{"error":"no"}"#)))
        },
        ConformanceCheck("An event source fails for a status when it connects again") { subject in
            let error = try await failureOfSecond(connectionOf: subject, .status(403, "no"))
            guard case .http(.forbidden, _, _) = error else { throw ConformanceFailure("It failed with \(error)") }
        },
        ConformanceCheck("An event source survives a connection that breaks", needs: [.network]) {
            subject in
            let server = try ScriptedServer.responding { request in
                guard request["last-event-id"] == nil else { return .status(204) }
                return .raw(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 900\r\n\r\nid: 1\ndata: a\n\n"
                ).then(.close)
            }
            let stack = try subject.stack()
            let seen = try await bounded {
                var seen: [String] = []
                for try await event in try await stack.events(from: server.url(), reconnection: atOnce) {
                    seen.append(event.data)
                }
                return seen
            }
            try expectEqual(seen, ["a"], "the data")
            try expectEqual(server.requests.map { $0["last-event-id"] }, [nil, "1"], "the identifiers")
        },
        ConformanceCheck("An event source outlives the stack's total timeout, but not its own", needs: [.network]) {
            subject,
            scale in
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n"),
                    .pause(.milliseconds(600) * scale), .send("data: b\n\n"), .close,
                ]
            }
            let total = Duration.milliseconds(300) * scale
            let stack = try subject.stack { $0.options.timeouts.total = total }
            let seen = try await bounded {
                var seen: [String] = []
                for try await event in try await stack.events(from: server.url(), reconnects: false) {
                    seen.append(event.data)
                }
                return seen
            }
            try expectEqual(seen, ["a", "b"], "the data")
            let limited = try await stack.events(from: server.url(), options: { $0.timeouts.total = total })
            let error = try await streamFailure { for try await _ in limited {} }
            try expect((error as? any HTTPError)?.isTimeout == true, "Expected a timeout, saw \(error)")
        },
        ConformanceCheck("Cancelling the task that reads events closes their connection", needs: [.network]) {
            subject in
            let server = try ScriptedServer { _ in
                [
                    .receiveHead,
                    .send(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 900\r\n\r\ndata: a\n\n"
                    ),
                    .waitForClose,
                ]
            }
            let stack = try subject.stack()
            let source = try await bounded { try await stack.events(from: server.url()) }
            let hasRead = Gate()
            let reading = Task { for try await _ in source { hasRead.open() } }
            try await hasRead.opened(within: .seconds(20))
            reading.cancel()
            let error = try await callFailure { try await reading.value }
            guard case .cancelled = error else { throw ConformanceFailure("The call failed with \(error)") }
            try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
        },
    ]

    /// Connects again after an event, gets this reply, and returns the failure, after which there is no event and no request.
    private static func failureOfSecond(
        connectionOf subject: ConformanceSubject,
        _ reply: Reply
    ) async throws -> BoundedClient.FetchError {
        let peer = try subject.serve { $0["last-event-id"] == nil ? events("id: 1\ndata: a\n\n") : reply }
        let stack = try subject.stack()
        let error = try await bounded {
            var events = try await stack.events(from: peer.url("/"), reconnection: atOnce).makeAsyncIterator()
            try expectEqual(try await events.next()?.data, "a", "the event")
            var failure: BoundedClient.FetchError?
            do { _ = try await events.next() } catch { failure = error as? BoundedClient.FetchError }
            try expectEqual(try await events.next()?.data, nil, "the event after the failure")
            return failure
        }
        try expectEqual(peer.requests().count, 2, "requests")
        return try require(error, "The event source goes on")
    }

    private static func expectNoEventStream(_ error: BoundedClient.FetchError) async throws {
        guard case .undecodable(let cause as NotAnEventStream, _) = error else {
            throw ConformanceFailure("The call failed with \(error)")
        }
        try expectBytes(try await bounded { try await cause.body() }, #"{"error":"no"}"#.utf8)
    }

    private static let atOnce = EventReconnection(limit: 5, delay: .milliseconds(1), longestDelay: .milliseconds(1))

    private static func events(_ text: String) -> Reply {
        .ok(text, headers: [("Content-Type", "text/event-stream")])
    }
}
