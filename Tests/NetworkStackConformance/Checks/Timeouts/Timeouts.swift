import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Each timeout ends a fetch in time, never early, and reports the phase.
    static let timeouts: [ConformanceCheck] = timeoutsAwaiting + timeoutsTotal + timeoutsNotEarly + timeoutsConnecting

    private static let timeoutsAwaiting: [ConformanceCheck] = [
        ConformanceCheck("The first-byte timeout ends a fetch whose server stays silent", needs: [.network]) {
            subject,
            scale in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let clock = Duration.milliseconds(300) * scale
            let options = HTTP.Options.clocks(firstByte: clock)
            try await expectTimeout(subject, server, options, .firstByte, during: [.waiting], after: clock)
            try expectEqual(server.connections[0].sentCount, 0, "bytes that the server had sent")
        },
        ConformanceCheck("The first-byte timeout counts from the last byte sent", needs: [.network]) { subject, scale in
            var serverOptions = ScriptedServer.Options()
            // More than a segment on loopback: with less, the kernel does not always report that there is room again, and the
            // client's kernel probes up to 0.8 s later.
            serverOptions.receiveBuffer = 256 * 1024
            let server = try ScriptedServer(serverOptions) { _ in
                [.receiveHead, .pause(.milliseconds(900) * scale), .receiveBody, .waitForClose]
            }
            let body = HTTP.Body.bytes(Data(count: 16 << 20))
            let options = HTTP.Options.clocks(firstByte: .milliseconds(1500) * scale)
            let observation = try subject.stack().observe(server.url(), method: .POST, body: body, options: options)
            try await observation.onlyOutcome().expectTimeout(.firstByte, during: [.waiting])
            // The last byte cannot go out before the server reads on; a clock that ran from the start would end earlier.
            let elapsed = observation.elapsed
            try expect(elapsed > .milliseconds(900 + 1500) * scale, "The timeout fired \(elapsed) after the start")
        },
        ConformanceCheck("The idle timeout ends a fetch whose server stays silent", needs: [.network]) {
            subject,
            scale in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let options = HTTP.Options.clocks(idle: .milliseconds(300) * scale)
            try await expectTimeout(
                subject,
                server,
                options,
                .idle,
                during: [.waiting],
                after: .milliseconds(300) * scale
            )
            try expectEqual(server.connections[0].sentCount, 0, "bytes that the server had sent")
        },
        ConformanceCheck("The idle timeout ends a fetch whose body stops coming", needs: [.network]) { subject, scale in
            let sent = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"
            let server = try ScriptedServer { _ in [.receiveHead, .send(sent), .waitForClose] }
            let options = HTTP.Options.clocks(idle: .milliseconds(300) * scale)
            try await expectTimeout(
                subject,
                server,
                options,
                .idle,
                during: [.receiving],
                after: .milliseconds(300) * scale
            )
            try expectEqual(server.connections[0].sentCount, sent.utf8.count, "bytes that the server had sent")
        },
        ConformanceCheck("The idle timeout ends an upload that the server does not read", needs: [.network]) {
            subject,
            scale in
            let (goesOn, isOver) = (Gate(), Gate())
            var serverOptions = ScriptedServer.Options()
            serverOptions.receiveBuffer = 32 * 1024
            let server = try ScriptedServer(serverOptions) { _ in
                [.receiveHead, .wait(for: goesOn), .waitForClose, .open(isOver)]
            }
            let body = HTTP.Body.bytes(Data(count: 32 << 20))
            let options = HTTP.Options.clocks(idle: .milliseconds(500) * scale)
            let observation = try subject.stack().observe(server.url(), method: .POST, body: body, options: options)
            try await observation.onlyOutcome().expectTimeout(.idle, during: [.sending])
            try expect(
                observation.elapsed >= .milliseconds(500) * scale,
                "The timeout fired after \(observation.elapsed)"
            )
            goesOn.open()
            try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
        },
        ConformanceCheck("The queue timeout ends a wait that is too long", needs: [.network, .queueTimeout]) {
            subject in
            let bottleneck = try await Bottleneck(subject)
            defer { bottleneck.open() }
            let (server, stack, first) = (bottleneck.server, bottleneck.stack, bottleneck.first)
            let queued = try stack.observe(server.url("/queued"), options: .clocks(queue: .milliseconds(300)))
            try await queued.onlyOutcome().expectTimeout(.queue, during: [.queued])
            try expect(queued.elapsed >= .milliseconds(300), "The timeout fired after \(queued.elapsed)")
            try expect(queued.elapsed < .seconds(12), "The timeout fired only after \(queued.elapsed)")
            try expectEqual(server.requests.count, 1, "requests the server has received")
            bottleneck.open()
            try expectEqual(try await first.onlyOutcome().text(), "/held", "the first fetch")
            try expectEqual(try await stack.text(server.url("/after")), "/after", "a later fetch")
            try expectEqual(server.requests.map(\.path), ["/held", "/after"], "what the server received")
        },
    ]

    private static let timeoutsTotal: [ConformanceCheck] = [
        ConformanceCheck("A dripping server trips the total timeout, not the idle one", needs: [.network]) {
            subject,
            scale in
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
                    .drip(String(repeating: "x", count: 1000), every: .milliseconds(50)),
                ]
            }
            let total = Duration.milliseconds(1200) * scale
            let options = HTTP.Options.clocks(idle: .milliseconds(800) * scale, total: total)
            try await expectTimeout(subject, server, options, .total, during: [.receiving], after: total)
        },
        ConformanceCheck("The total timeout ends a fetch whose server stays silent", needs: [.network]) {
            subject,
            scale in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let clock = Duration.milliseconds(300) * scale
            let options = HTTP.Options.clocks(total: clock)
            try await expectTimeout(subject, server, options, .total, during: [.waiting], after: clock)
        },
        ConformanceCheck("The total timeout continues over redirects", needs: [.network]) { subject, scale in
            let server = try ScriptedServer.responding { request in
                let next = (Int(request.path.dropFirst()) ?? 0) + 1
                return .steps([
                    .pause(.milliseconds(100) * scale),
                    .send("HTTP/1.1 302 Found\r\nLocation: /\(next)\r\nContent-Length: 0\r\n\r\n"),
                ])
            }
            var options = HTTP.Options.clocks(idle: .seconds(10), total: .seconds(1) * scale)
            options.redirects.limit = 100
            let observation = try subject.stack().observe(server.url("/0"), options: options)
            let phases = Set(HTTP.Phase.allCases).subtracting([.making])
            try await observation.onlyOutcome().expectTimeout(.total, during: phases)
            try expect(observation.elapsed >= .seconds(1) * scale, "The timeout fired after \(observation.elapsed)")
            try expect(observation.elapsed < .seconds(4) * scale, "The timeout fired only after \(observation.elapsed)")
            try expect(server.requests.count > 1, "The fetch was not redirected: the check proves nothing")
        },
        ConformanceCheck("The total timeout runs while the request is being made") { subject in
            let maker = PatientMaker()
            let resource = maker.resource(options: .clocks(total: .milliseconds(300)))
            let observation = try subject.stack().observe(resource)
            try await observation.onlyOutcome().expectTimeout(.total, during: [.making])
            try expect(observation.elapsed >= .milliseconds(300), "The timeout fired after \(observation.elapsed)")
            try expect(observation.elapsed < .seconds(12), "The timeout fired only after \(observation.elapsed)")
            // The clock's thread does not wait for the maker.
            try await eventually("the maker is cancelled") { maker.cancelable.count == 1 }
        },
        ConformanceCheck("The total timeout runs while a fetch is queued", needs: [.network]) { subject, scale in
            let bottleneck = try await Bottleneck(subject)
            defer { bottleneck.open() }
            let (server, stack, first) = (bottleneck.server, bottleneck.stack, bottleneck.first)
            let queued = try stack.observe(server.url("/queued"), options: .clocks(total: .milliseconds(300) * scale))
            try await queued.onlyOutcome().expectTimeout(.total, during: [.queued])
            bottleneck.open()
            _ = try await first.onlyOutcome()
            try expectEqual(server.requests.map(\.path), ["/held"], "what the server received")
        },
        ConformanceCheck("Each of two hundred fetches has a separate timeout") { subject in
            let (maker, stack) = (PatientMaker(), try subject.stack())
            try await expectPrompt("The last of two hundred timeouts", within: .seconds(1)) {
                let observations = (0..<200).map { number in
                    let total = Duration.milliseconds(200 + (number * 37) % 400)
                    return (total, stack.observe(maker.resource(options: .clocks(total: total))))
                }
                var latest = Duration.zero
                for (total, observation) in observations {
                    try await observation.onlyOutcome().expectTimeout(.total, during: [.making])
                    let late = observation.elapsed - total
                    try expect(late >= .zero, "A timeout of \(total) fired after \(observation.elapsed)")
                    latest = max(latest, late)
                }
                return latest
            }
        },
        ConformanceCheck("A far deadline does not delay a near one") { subject in
            // The far deadlines are first checked after 0.5 s, and the near one is due soon after.
            let (maker, stack) = (PatientMaker(), try subject.stack())
            try await expectPrompt("A deadline of 0.55 s", within: .milliseconds(900)) {
                let far = (0..<5).map { _ in
                    stack.observe(maker.resource(options: .clocks(idle: .milliseconds(500), total: .seconds(30))))
                }
                let near = stack.observe(maker.resource(options: .clocks(total: .milliseconds(550))))
                try await near.onlyOutcome().expectTimeout(.total, during: [.making])
                for observation in far { observation.cancel() }
                for observation in far { try await observation.onlyOutcome().expectCancelled() }
                return near.elapsed
            }
        },
    ]

    private static let timeoutsNotEarly: [ConformanceCheck] = [
        ConformanceCheck("No timeout fires early, and none after the end", needs: [.network]) { subject, scale in
            let pause = ScriptedServer.Step.pause(.milliseconds(400) * scale)
            let server = try ScriptedServer.responding { _ in
                .steps([
                    pause, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"), pause, .send("fo"), pause,
                    .send("ur"),
                ])
            }
            let clock = Duration.seconds(1) * scale
            let options = HTTP.Options.clocks(
                queue: subject.queueTimeout(clock),
                connect: subject.connectTimeout(clock),
                firstByte: clock,
                idle: clock,
                total: clock * 6
            )
            let observation = try subject.stack().observe(server.url(), options: options)
            try expectEqual(try await observation.onlyOutcome().text(), "four", "the body")
            try expect(
                observation.elapsed >= .milliseconds(1200) * scale,
                "The fetch ended after \(observation.elapsed)"
            )
        },
        ConformanceCheck("A slow upload does not trip the idle timeout", needs: [.network]) {
            subject in
            var serverOptions = ScriptedServer.Options()
            serverOptions.receiveBuffer = 32 * 1024
            let slices = [ScriptedServer.Step.pause(.milliseconds(200)), .receive(1 << 20)]
            let server = try ScriptedServer(serverOptions) { _ in
                [.receiveHead] + (0..<16).flatMap { _ in slices } + [.send("HTTP/1.1 204 No Content\r\n\r\n")]
            }
            let observation = try subject.stack().observe(
                server.url(),
                method: .POST,
                body: .bytes(Data(count: 16 << 20)),
                options: .clocks(idle: .milliseconds(2500), total: .seconds(20))
            )
            try expectEqual(try await observation.onlyOutcome().value().response.status, 204, "the status")
            try expect(observation.elapsed > .milliseconds(16 * 200), "The fetch ended after \(observation.elapsed)")
        },
        ConformanceCheck("A timeout of zero or less is refused by resource and stack") {
            subject in
            for wrong in [Duration.zero, .seconds(-1)] {
                for options in [
                    HTTP.Options.clocks(queue: wrong), .clocks(connect: wrong), .clocks(firstByte: wrong),
                    .clocks(idle: wrong), .clocks(total: wrong),
                ] {
                    let resource = PatientMaker().resource(options: options)
                    guard case .invalidRequest = try await subject.stack().observe(resource).onlyOutcome().refusal()
                    else {
                        throw ConformanceFailure("A timeout of \(wrong) was refused for another reason")
                    }
                    do {
                        _ = try subject.stack { $0.options = options }
                        throw ConformanceFailure("A stack was made with a timeout of \(wrong)")
                    } catch Network.ConfigurationError.invalid {}
                }
            }
        },
        ConformanceCheck("A very long timeout acts as none") { subject in
            let peer = try subject.serve { _ in .ok("fine") }
            let endless = Duration.seconds(Int64.max)
            let options = HTTP.Options.clocks(
                queue: subject.queueTimeout(endless),
                connect: subject.connectTimeout(endless),
                firstByte: endless,
                idle: endless,
                total: endless
            )
            let observation = try subject.stack().observe(peer.url("/"), options: options)
            try expectEqual(try await observation.onlyOutcome().text(), "fine", "the body")
        },
    ]

    /// Fetches the server's root and expects a timeout to end it, in time, with the connection closed.
    static func expectTimeout(
        _ subject: ConformanceSubject,
        _ server: ScriptedServer,
        _ options: HTTP.Options,
        _ timeout: HTTP.Timeout,
        during phases: Set<HTTP.Phase>,
        after bound: Duration,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        let observation = try subject.stack().observe(server.url(), options: options)
        let outcome = try await observation.onlyOutcome(file: file, line: line)
        try outcome.expectTimeout(timeout, during: phases, file: file, line: line)
        let elapsed = observation.elapsed
        try expect(elapsed >= bound, "The timeout fired early, after \(elapsed)", file: file, line: line)
        try expect(elapsed < bound + .seconds(10), "The timeout fired late, after \(elapsed)", file: file, line: line)
        try await server.sees("the close", within: .seconds(10), file: file, line: line) {
            $0.connections.first?.isEndedByPeer == true
        }
    }
}

extension ConformanceSubject {
    /// The timeout, if the stack supports it.
    func connectTimeout(_ duration: Duration) -> Duration? { capabilities.supports(.connectTimeout) ? duration : nil }

    /// The timeout, if the stack supports it.
    func queueTimeout(_ duration: Duration) -> Duration? { capabilities.supports(.queueTimeout) ? duration : nil }
}
