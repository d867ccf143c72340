import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsFrames: Set<HTTP.Capability> = [.network, .http2PriorKnowledge, .strictReplies]

    /// HTTP/2 connections that stall: timeouts fire, and cancels send resets.
    static let stalledHTTP2: [ConformanceCheck] = [
        ConformanceCheck(
            "The idle timeout ends a stalled HTTP/2 upload, with or without hints",
            needs: needsFrames.union([.informationalResponses])
        ) { subject, scale in
            // Which of the two waits for room, and how, varies.
            for hasHints in [false, true, true, true] {
                let goesOn = Gate()
                // Two uploads: if one uses all the room, the other waits for some.
                let server = try stalling { connection in
                    try connection.answerStream()
                    for stream in [3, 5] as [UInt32] {
                        try connection.receiveHeaders()
                        if hasHints {
                            try connection.send([.head(103, [(name: "link", value: "</style.css>")], on: stream)])
                        }
                    }
                    try connection.wait(for: goesOn)
                }
                defer { goesOn.open() }
                var options = HTTP.Options.clocks(idle: .milliseconds(500) * scale, total: .seconds(10))
                options.version = .http2PriorKnowledge
                let (stack, body) = (try subject.stack(), HTTP.Body.bytes(Data(count: 32 << 20)))
                _ = try await stack.observe(server.url(), options: options).onlyOutcome().text()
                let observations = try (1...2).map {
                    try stack.observe(server.url("/\($0)"), method: .POST, body: body, options: options)
                }
                for observation in observations {
                    try await observation.onlyOutcome().expectTimeout(.idle, during: [.sending])
                    let elapsed = observation.elapsed
                    try expect(elapsed >= .milliseconds(500) * scale, "The timeout fired after \(elapsed)")
                }
            }
        },
        ConformanceCheck(
            "A cancelled stream is reset beside a paused stream",
            needs: needsFrames.union([.backPressure])
        ) { subject in
            let (isThere, wasReset) = (Gate(), Gate())
            let server = try ScriptedServer { _ in
                [
                    .beginHTTP2, .receiveStream, .send([.head(200, on: 1)]),
                    .run { connection in
                        for _ in 0..<30 { try connection.send([.data(String(repeating: "x", count: 16_000), on: 1)]) }
                        while true {
                            let frame = try connection.receiveFrame()
                            if frame.kind == .headers, frame.stream == 3 { isThere.open() }
                            if frame.kind == .reset, frame.stream == 3 { return wasReset.open() }
                        }
                    }, .waitForClose,
                ]
            }
            let stack = try subject.streaming { $0.options.version = .http2PriorKnowledge }
            let held = try await stack.open(server.url())
            let never = try HTTP.Request(url: server.url("/never"))
            let waiting = stack.stack.fetch(resource: .init(baseRequestMaking: .request(never))) { _ in }
            try await isThere.opened()
            waiting.cancel()
            try await wasReset.opened()
            withExtendedLifetime(held) {}
        },
        ConformanceCheck("An answered upload that stalls uses no processor time", needs: needsFrames) { subject in
            var options = ScriptedServer.Options()
            options.receiveBuffer = 32 * 1024
            let server = try ScriptedServer(options) { _ in
                [
                    .beginHTTP2, .send(HTTP2Frame.wideOpen), .run { try $0.receiveHeaders() },
                    // The connection is full when the head comes, and for a while after.
                    .pause(.milliseconds(300)), .send([.head(200, on: 1)]), .pause(.seconds(2)),
                    .run { _ = try $0.receiveStream() }, .send([.data("ok", on: 1, endsStream: true)]), .waitForClose,
                ]
            }
            let request = try HTTP.Request(method: .PUT, url: server.url(), body: .bytes(Data(count: 4 << 20)))
            let before = ProcessorTime.ofProcess
            try expectBytes(await subject.http2Client().success(request).value, "ok".utf8)
            let cost = ProcessorTime.ofProcess - before
            try expect(cost < .seconds(1), "An upload that stalled for 2 s used \(cost) of processor time")
        },
        ConformanceCheck("An answered upload that waits for its source uses no processor time", needs: needsFrames) {
            subject in
            let server = try http2Server { _ in
                [
                    .run { try $0.receiveHeaders() }, .send([.head(200, on: 1)]), .run { _ = try $0.receiveStream() },
                    .send([.data("ok", on: 1, endsStream: true)]), .waitForClose,
                ]
            }
            let (source, continuation) = AsyncStream.makeStream(of: Data.self)
            continuation.yield(Data("first".utf8))
            let body = HTTP.Body.stream(.init(source))
            async let fetched = subject.http2Client().success(HTTP.Request(method: .PUT, url: server.url(), body: body))
            let before = ProcessorTime.ofProcess
            try await Task.sleep(for: .seconds(1))
            let cost = ProcessorTime.ofProcess - before
            continuation.finish()
            try expectBytes(await fetched.value, "ok".utf8)
            try expect(cost < .milliseconds(500), "A second of waiting used \(cost) of processor time")
        },
        ConformanceCheck(
            "Stalled uploads on a dying HTTP/2 connection are sent on another",
            needs: [.network, .http2, .customTrustRoots]
        ) { subject in
            let certificates = try TestCertificates.shared()
            var options = ScriptedServer.Options(tls: certificates.server, applicationProtocols: ["h2"])
            options.receiveBuffer = 32 * 1024
            let server = try ScriptedServer(options) { index in
                guard index == 0 else {
                    return [
                        .pause(.milliseconds(200)), .beginHTTP2, .send(HTTP2Frame.wideOpen),
                        .repeat([.answerStream]),
                    ]
                }
                return [
                    .beginHTTP2, .send(HTTP2Frame.wideOpen), .answerStream,
                    .run { connection in for _ in 0..<2 { try connection.receiveHeaders() } },
                    .pause(.milliseconds(300)), .reset,
                ]
            }
            let stack = try subject.stack { $0.tls.trustRoots = .file(path: certificates.caFile) }
            _ = try await stack.text(server.url())
            let body = HTTP.Body.bytes(Data(count: 4 << 20))
            let observations = try (1...2).map { try stack.observe(server.url("/\($0)"), method: .PUT, body: body) }
            for observation in observations {
                try expectEqual(try await observation.onlyOutcome().text(), "ok", "the body")
            }
        },
    ]

    /// A server that opens all its windows, and then follows the steps.
    private static func stalling(
        _ body: @escaping @Sendable (ScriptedServer.Connection) throws -> Void
    ) throws -> ScriptedServer {
        var options = ScriptedServer.Options()
        options.receiveBuffer = 32 * 1024
        return try ScriptedServer(options) { _ in
            [.beginHTTP2, .send(HTTP2Frame.wideOpen), .run { try body($0) }, .waitForClose]
        }
    }
}
