import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Other checks allow ten seconds, so that they pass on a busy machine; these allow a fraction of one. Any cause may
    /// delay one try, and hardly all of them: the best one counts. None may be early.
    static let punctuality: [ConformanceCheck] = promptCancels + punctualClocks

    private static let promptCancels: [ConformanceCheck] = [
        ConformanceCheck(
            "A cancel closes a silent server's connection within 250 ms",
            needs: [.network]
        ) { subject in
            try await expectPromptClose(subject, [.receiveHead, .waitForClose]) { !$0.requests.isEmpty }
            let half = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"
            try await expectPromptClose(subject, [.receiveHead, .send(half), .waitForClose]) { $0.sentCount > 0 }
            guard subject.capabilities.supports(.endedAttempts) else { return }
            var silentInHandshake = ScriptedServer.Options(tls: try TestCertificates.shared().server)
            silentInHandshake.answersHandshake = false
            try await expectPromptClose(subject, options: silentInHandshake, []) { $0.receivedCount > 0 }
        },
        ConformanceCheck(
            "A cancel resets a silent server's stream within 250 ms",
            needs: needsHTTP2.union([.streamedRequestBody])
        ) { subject in
            let (nghttpd, client) = try await nghttpd(subject)
            // Without another stream, the connection is closed instead.
            let other = try HeldUpload(client, to: nghttpd.url("/json"))
            try await nghttpd.waitForFrames { $0.contains(where: \.isReceivedData) }
            try await expectPrompt("The reset of a stream", within: .milliseconds(250)) {
                let before = Set(nghttpd.frames.map(\.stream))
                let upload = try HeldUpload(client, to: nghttpd.url("/json"))
                let frames = try await nghttpd.waitForFrames {
                    $0.contains { $0.isReceivedData && !before.contains($0.stream) }
                }
                let stream = frames.last(where: \.isReceivedData)?.stream
                let cancelledAt = ContinuousClock.now
                upload.fetch.cancel()
                try await upload.fetch.onlyOutcome(within: .seconds(10)).expectCancelled()
                try await nghttpd.waitForFrames {
                    $0.contains { $0.type == "RST_STREAM" && $0.direction == .received && $0.stream == stream }
                }
                return .now - cancelledAt
            }
            other.fetch.cancel()
            try await other.fetch.onlyOutcome().expectCancelled()
        },
    ]

    private static let punctualClocks: [ConformanceCheck] = [
        ConformanceCheck(
            "The total, idle and first-byte timeouts fire 0 to 250 ms late",
            needs: [.network]
        ) {
            subject in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let stack = try subject.stack()
            let (url, clock) = (server.url(), clock)
            try await expectPunctual(.total, .clocks(total: clock), stack, url)
            try await expectPunctual(.idle, .clocks(idle: clock), stack, url)
            try await expectPunctual(.firstByte, .clocks(firstByte: clock), stack, url)
        },
        ConformanceCheck(
            "The connect timeout fires 0 to 250 ms late",
            needs: [.network, .connectTimeout]
        ) {
            subject in
            let port = try UnresponsivePort()
            let url = "http://127.0.0.1:\(port.port)/"
            try await expectPunctual(.connect, .clocks(connect: clock), subject.stack(), url)
            withExtendedLifetime(port) {}
        },
        ConformanceCheck(
            "The queue timeout fires 0 to 250 ms late",
            needs: [.network, .queueTimeout]
        ) {
            subject in
            let bottleneck = try await Bottleneck(subject)
            defer { bottleneck.open() }
            let url = bottleneck.server.url("/queued")
            try await expectPunctual(.queue, .clocks(queue: clock), bottleneck.stack, url)
        },
    ]

    /// No multiple of a unit that a clock could be rounded to.
    private static let clock = Duration.milliseconds(150)

    /// Fetches with one timeout, which must end the fetch, in any phase.
    private static func expectPunctual(
        _ timeout: HTTP.Timeout,
        _ options: HTTP.Options,
        _ stack: ConformanceSubject.Stack,
        _ url: String
    ) async throws {
        try await expectPrompt("A \(timeout) timeout of \(clock)", within: clock + .milliseconds(250)) {
            let observation = try stack.observe(url, options: options)
            try await observation.onlyOutcome().expectTimeout(timeout, during: Set(HTTP.Phase.allCases))
            let elapsed = observation.elapsed
            try expect(elapsed >= clock, "A \(timeout) timeout of \(clock) fired early, after \(elapsed)")
            return elapsed
        }
    }

    /// Cancels at a moment that the server reports. Both the outcome and the close must come soon.
    private static func expectPromptClose(
        _ subject: ConformanceSubject,
        options: ScriptedServer.Options = .init(),
        _ script: ScriptedServer.Script,
        when isTheMoment: (ConnectionRecord) -> Bool
    ) async throws {
        let server = try ScriptedServer(options) { _ in script }
        let stack = try subject.stack()
        try await expectPrompt("The end of a cancelled fetch", within: .milliseconds(250)) {
            let number = server.snapshot.accepted
            let observation = try stack.observe(server.url())
            try await server.sees("the state before the cancel") {
                $0.accepted > number && isTheMoment($0.connections[number])
            }
            let cancelledAt = ContinuousClock.now
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            let seen = try await server.sees("the close") { $0.connections[number].isEndedByPeer }
            return max(seen.connections[number].closedAt ?? .now, observation.completedAt) - cancelledAt
        }
    }

    /// Tries up to ten times, until the closure took no longer than a bound plus the delays of the machine.
    static func expectPrompt(
        _ what: String,
        within bound: Duration,
        _ attempt: () async throws -> Duration
    ) async throws {
        var seen: [Duration] = []
        let bound = bound * Stall.slowdown
        for _ in 1...10 {
            let stall = Stall()
            let taken = try await attempt()
            if taken <= bound + stall.fullAllowance { return }
            seen.append(taken)
        }
        throw ConformanceFailure("\(what) took longer than \(bound) every time: \(seen)")
    }
}

extension LoggedFrame {
    fileprivate var isReceivedData: Bool { type == "DATA" && direction == .received }
}
