import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The steps that a flight recorder names as slow.
    static let explanations: [ConformanceCheck] = [
        ConformanceCheck(
            "A slow server is named as slow",
            needs: [.network],
            scaled: { subject, scale in
                let server = try ScriptedServer { _ in
                    [.receiveHead, .pause(.milliseconds(300) * scale), .send(doneReply)]
                }
                try await expectSlow(.server, subject, server.url())
            }
        ),
        ConformanceCheck(
            "A slow body is named as slow",
            needs: [.network],
            scaled: { subject, scale in
                let server = try ScriptedServer { _ in
                    [
                        .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf"),
                        .pause(.milliseconds(300) * scale), .send("half"), .waitForClose,
                    ]
                }
                try await expectSlow(.receiving, subject, server.url())
            }
        ),
        ConformanceCheck(
            "A wait for a connection is named as slow",
            needs: [.network],
            scaled: { subject, scale in
                let server = try ScriptedServer { _ in
                    [
                        .receiveHead, .pause(.milliseconds(300) * scale), .send(doneReply), .receiveHead,
                        .send(doneReply),
                        .waitForClose,
                    ]
                }
                let recorder = FlightRecorder()
                let stack = try subject.stack {
                    $0.listeners = [recorder]
                    $0.connections.perHost = 1
                }
                let fetches = try (0..<2).map { _ in try stack.observe(server.url()) }
                for fetch in fetches { try await fetch.onlyOutcome().value() }
                try await expectSlow(.queue, recorder, of: 2)
            }
        ),
        ConformanceCheck(
            "A slow name lookup is named as slow",
            needs: [.network, .connectionEvents, .heldLookups],
            scaled: { subject, scale in
                let lookups = try HeldLookups(findingThisMachine: true)
                let server = try ScriptedServer.responding { _ in .ok("x") }
                let recorder = FlightRecorder()
                let stack = try subject.stack { $0.listeners = [recorder] }
                let fetch = try stack.observe(server.url(host: lookups.name))
                try await lookups.began()
                try await Task.sleep(for: .milliseconds(300) * scale)
                lookups.release()
                try await fetch.onlyOutcome().value()
                try await expectSlow(.nameLookup, recorder)
            }
        ),
        ConformanceCheck(
            "A slow connection attempt is named as slow",
            needs: [.network, .connectionEvents, .connectTimeout],
            scaled: { subject, scale in
                let port = try UnresponsivePort()
                let recorder = FlightRecorder()
                let stack = try subject.stack { $0.listeners = [recorder] }
                let options = HTTP.Options.clocks(connect: .milliseconds(300) * scale, idle: .seconds(20))
                _ = try await stack.observe("http://127.0.0.1:\(port.port)/", options: options).onlyOutcome()
                try await expectSlow(.connecting, recorder)
            }
        ),
        ConformanceCheck("A stream that an interceptor reads is dated by its start", needs: [.network]) {
            subject,
            scale in
            let pause = Duration.milliseconds(500) * scale
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf"), .pause(pause),
                    .send("half"),
                    .waitForClose,
                ]
            }
            let reading = AsyncInterceptor { request, next in
                var reply = try await next(request)
                if let body = try? await reply.body.collect() { reply.body = .init(body) }
                return reply
            }
            let recorder = FlightRecorder()
            let began = Date.now
            let client = try subject.streaming { $0.listeners = [recorder] }
            let opened = try await client.open(server.url(), interceptors: [reading])
            _ = try await opened.value.collect()
            try await eventually("the stream is recorded") { recorder.records.count == 1 }
            let late = recorder.records[0].startedAt.timeIntervalSince(began)
            try expect(abs(late) < pause / .seconds(2), "It is dated \(late) s after its start")
        },
    ]

    private static func expectSlow(_ step: HTTP.Metrics.Step, _ subject: ConformanceSubject, _ url: String) async throws
    {
        let recorder = FlightRecorder()
        let stack = try subject.stack { $0.listeners = [recorder] }
        try await stack.observe(url).onlyOutcome().value()
        try await expectSlow(step, recorder)
    }

    private static func expectSlow(
        _ step: HTTP.Metrics.Step,
        _ recorder: FlightRecorder,
        of count: Int = 1
    ) async throws {
        try await eventually("the fetch is recorded") { recorder.records.count == count }
        // Fetches that end together are recorded in any order.
        let records = recorder.records
        let record = records.first { $0.metrics.slowestStep?.step == step } ?? records[count - 1]
        try expectEqual(record.metrics.slowestStep?.step, step, "the slowest step of \(record.explain())")
        let line = record.explain().split(separator: "\n").first { $0.hasSuffix("  <- slowest") } ?? ""
        try expect(line.contains("ms"), "No step is marked in \(record.explain())")
    }
}
