import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Upper and lower bounds of timeouts, in proportion to the configured time, and of buffers, in bytes.
    static let proportions: [ConformanceCheck] = clocksInProportion + marksInBytes

    private static let clock = Duration.milliseconds(400)

    private static let clocksInProportion: [ConformanceCheck] = [
        clockInProportion("The first-byte timeout", .firstByte) { $0.firstByte = clock },
        clockInProportion("The idle timeout", .idle) { $0.idle = clock },
        clockInProportion("The attempt's timeout", .attempt) { $0.attempt = clock },
        clockInProportion("The total timeout", .total) { $0.total = clock },
        ConformanceCheck(
            "The queue timeout fires after its time, before twice that",
            needs: [.network, .queueTimeout]
        ) { subject in
            let bottleneck = try await Bottleneck(subject)
            defer { bottleneck.open() }
            try await expectInProportion {
                try bottleneck.stack.observe(bottleneck.server.url("/queued"), options: .clocks(queue: clock))
            } ends: {
                try $0.expectTimeout(.queue, during: [.queued])
            }
        },
        ConformanceCheck(
            "The connect timeout fires after its time, before twice that",
            needs: [.network, .connectTimeout]
        ) { subject in
            var options = ScriptedServer.Options(tls: try TestCertificates.shared().server)
            options.answersHandshake = false
            let server = try ScriptedServer(options) { _ in [] }
            let stack = try subject.stack()
            try await expectInProportion {
                try stack.observe(server.url(), options: .clocks(connect: clock))
            } ends: {
                try $0.expectTimeout(.connect, during: Set(HTTP.Phase.allCases))
            }
        },
        ConformanceCheck(
            "The 100 Continue wait ends after its time, before twice that",
            needs: [.network, .expectContinue]
        ) { subject in
            let server = try ScriptedServer { _ in
                [.repeat([.receiveRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])]
            }
            let stack = try subject.stack { $0.options.expectContinue = clock }
            try await expectInProportion {
                try stack.observe(server.url(), method: .PUT, body: .bytes(patternBytes(100)))
            } ends: {
                try $0.value()
            }
        },
        ConformanceCheck("A retry delay lasts between one and two times its length") { subject in
            let peer = try subject.serve { _ in .status(503) }
            let stack = try subject.stack()
            let spy = Spy("retry").with { $0.vote = { $0.state.retryCount == 0 ? .retryAfter(0.4) : .none } }
            try await expectInProportion {
                stack.observe(try .intercepted(peer.url("/"), by: [spy]))
            } ends: {
                guard case .failure(.http(503, _, _)) = $0 else { throw ConformanceFailure("saw \($0.summary)") }
            }
        },
        ConformanceCheck("A finishing stack waits as long as its limit, not twice") { subject in
            try await expectInProportion(to: clock) {
                let (peer, held) = try subject.serveLate()
                defer { held.open() }
                let (stack, finish) = try subject.makeFinishing(.init())
                let observation = try stack.observe(peer.url("/"))
                let start = ContinuousClock.now
                try await bounded { await finish(clock) }
                defer { observation.cancel() }
                return .now - start
            }
        },
    ]

    /// A timeout that fires because the server stays silent.
    private static func clockInProportion(
        _ name: String,
        _ timeout: HTTP.Timeout,
        _ set: @escaping @Sendable (inout HTTP.Options.Timeouts) -> Void
    ) -> ConformanceCheck {
        ConformanceCheck("\(name) fires after its time, before twice that", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let stack = try subject.stack()
            var options = HTTP.Options()
            set(&options.timeouts)
            try await expectInProportion { [options] in
                try stack.observe(server.url(), options: options)
            } ends: {
                try $0.expectTimeout(timeout, during: Set(HTTP.Phase.allCases))
            }
        }
    }

    private static func expectInProportion(
        _ fetch: () throws -> Observation,
        ends: (Outcome) throws -> Void
    ) async throws {
        try await expectInProportion(to: clock) {
            let observation = try fetch()
            try ends(try await observation.onlyOutcome())
            return observation.elapsed
        }
    }

    /// Expects that a timeout is never early, and that one of three tries takes less than 1.5 times its length. Delays of the
    /// machine do not count.
    ///
    /// - Parameters:
    ///   - clock: The time.
    ///   - run: Waits for the timeout, and returns how long that took.
    /// - Throws: A ``ConformanceFailure``, or the error of `run`.
    package static func expectInProportion(to clock: Duration, _ run: () async throws -> Duration) async throws {
        var late: [Duration] = []
        for _ in 1...3 {
            let stall = Stall()
            let taken = try await run()
            try expect(taken >= clock, "A timeout of \(clock) fired early, after \(taken)")
            if taken <= clock + clock * 0.5 * Stall.slowdown + stall.fullAllowance { return }
            late.append(taken)
        }
        throw ConformanceFailure("A timeout of \(clock) fired late every time: \(late)")
    }

    // MARK: Buffers

    private static let marksInBytes: [ConformanceCheck] = [
        ConformanceCheck(
            "An unread stream buffers 256 KiB, and 512 KiB at most",
            needs: [.network, .backPressure]
        ) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n"), .sendPattern(32 << 20)]
            }
            // The limit, a piece of 128 KiB beyond it, and the one that libcurl keeps for a paused transfer.
            let stream = try await subject.streaming().open(server.url()).value
            let taken = try await settled("the server to stop sending") {
                guard let connection = server.connections.first else { return nil }
                let queued = try SocketTable.queued(between: server.port, and: connection.peer)
                return connection.sentCount - queued
            }
            try withExtendedLifetime(stream) {
                try expect((256 << 10...512 << 10).contains(taken), "The stream buffered \(taken) bytes")
            }
        },
        ConformanceCheck(
            "At most 384 KiB of a body are read ahead",
            needs: [.network, .streamedRequestBody]
        ) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .pause(.seconds(20))] }
            let made = Lock(0)
            let piece = patternBytes(16 << 10)
            let chunks = AsyncStream<Data> {
                made.withLock { $0 += piece.count }
                return piece
            }
            let body = HTTP.Body.stream(.init(chunks, length: 64 << 20))
            let fetch = try subject.stack().observe(server.url(), method: .PUT, body: body)
            let ahead = try await settled("the maker to pause") {
                guard let connection = server.connections.first, connection.receivedCount > 0 else { return nil }
                let queued = try SocketTable.queued(between: server.port, and: connection.peer)
                let head = server.requests.first?.rawHead.count ?? 0
                return made.withLock { $0 } + head - connection.receivedCount - queued
            }
            fetch.cancel()
            try await fetch.onlyOutcome().expectCancelled()
            try expect((192 << 10...384 << 10).contains(ahead), "The maker was \(ahead) bytes ahead of the server")
        },
    ]

    /// Waits until a number has been the same for a quarter of a second.
    private static func settled(_ what: String, _ number: () throws -> Int?) async throws -> Int {
        var last: Int?
        var since = ContinuousClock.now
        var stall = Stall()
        let deadline = since + .seconds(15)
        while ContinuousClock.now < deadline {
            let now = try number()
            if now == nil || now != last { (last, since, stall) = (now, .now, Stall()) }
            if let last, .now - since > .milliseconds(250) * Stall.slowdown + stall.allowance { return last }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw ConformanceFailure("Timed out while waiting for \(what), last at \(last.map { "\($0)" } ?? "nothing")")
    }
}
