import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Attempts and timeouts.
    static let retriesTimed: [ConformanceCheck] = [
        ConformanceCheck("The attempt timeout does not end an opened stream", needs: [.network]) {
            subject,
            scale in
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"),
                    .pause(.milliseconds(900) * scale), .send("later"),
                ]
            }
            // Nor during the report of its events, however long that takes.
            let listener = AttemptListener { event, _ in
                if case .succeeded = event { Latch().wait(seconds: 0.6 * Double(scale)) }
            }
            for interceptors in [[], [listener]] {
                let client = try subject.streaming {
                    $0.options.timeouts.attempt = .milliseconds(300) * scale
                    $0.interceptors = interceptors
                }
                try expectBytes(try await client.open(server.url()).value.collect(), "firstlater".utf8)
            }
        },
        ConformanceCheck("A timed-out attempt fails, and the next has a new timeout") {
            subject,
            scale in
            let (held, count, log) = (Latch(), Lock(0), EventLog())
            defer { held.open() }
            let peer = try subject.serve { _ in
                count.withLock { $0 += 1 }
                if count.withLock({ $0 }) == 1 { held.wait() }
                return .ok("x")
            }
            let spy = Spy("spy").with {
                $0.vote = { event in
                    log.add("\((event.error as? any HTTPError)?.isTimeout == true) \(event.state.retryCount)")
                    return .retry
                }
            }
            let stack = try subject.stack { $0.options.timeouts.attempt = .milliseconds(300) * scale }
            let observation = try stack.observe(.intercepted(peer.url("/"), by: [spy]))
            try expectEqual(try await observation.onlyOutcome(within: .seconds(10) * scale).text(), "x", "the body")
            try expectEqual(log.all, ["true 0"], "the attempts that timed out")
            try expect(
                observation.elapsed >= .milliseconds(300) * scale,
                "The timeout fired after \(observation.elapsed)"
            )
        },
        ConformanceCheck("A timed-out attempt releases its connection", needs: [.network]) {
            subject,
            scale in
            let server = try ScriptedServer { index in
                index == 0 ? [.receiveHead, .waitForClose] : [.receiveHead, .send(doneReply), .waitForClose]
            }
            let spy = Spy("spy").with { $0.vote = { _ in .retry } }
            let stack = try subject.stack { $0.options.timeouts.attempt = .milliseconds(300) * scale }
            let observation = try stack.observe(.intercepted(server.url(), by: [spy]))
            try await observation.onlyOutcome(within: .seconds(10) * scale).value()
            try await server.waitUntil { $0.accepted == 2 && $0.connections[0].state != .open }
            withExtendedLifetime(stack) {}
        },
        ConformanceCheck("Late events of an earlier attempt are ignored") { subject, scale in
            let peer = try subject.serve { .ok($0.path) }
            let (old, new) = (try HTTP.Request(url: peer.url("/old")), try HTTP.Request(url: peer.url("/new")))
            let (kept, log) = (Lock<Network.BaseRequestMaking<HTTP.Request>.Handler?>(nil), EventLog())
            var options = HTTP.Options()
            options.timeouts.attempt = .milliseconds(200) * scale
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: .init { handler in
                    let earlier = kept.withLock { kept in
                        defer { kept = handler }
                        return kept
                    }
                    guard let earlier else { return EmptyCancelable() }
                    _ = earlier(.success(old))
                    return handler(.success(new))
                },
                interceptors: [Spy("spy", log).with { $0.vote = { _ in .retry } }],
                options: options.replacing
            )
            let observation = try subject.stack().observe(resource)
            try expectEqual(try await observation.onlyOutcome(within: .seconds(10)).text(), "/new", "the body")
            try expectEqual(peer.requests().map(\.path), ["/new"], "what the server received")
            let events = [
                "fails attempt 1 without a request", "makes a request", "schedules attempt 2", "takes /new",
                "succeeds with /new",
            ]
            try expectEqual(log.all, events.map { "spy \($0)" }, "the events")
        },
        ConformanceCheck("A request that a task makes too slowly is made again") { subject, scale in
            let (peer, count) = (try subject.serve { _ in .ok("x") }, Lock(0))
            let request = try HTTP.Request(url: peer.url("/"))
            var options = HTTP.Options()
            options.timeouts.attempt = .milliseconds(200) * scale
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: .task {
                    let isFirst = count.withLock { count in
                        count += 1
                        return count == 1
                    }
                    if isFirst { try await Task.sleep(for: .seconds(60)) }
                    return request
                },
                // It takes no part in the making: what follows that is the fetch itself.
                interceptors: [HTTPRetryPolicy.backoff(.constant(delay: 0.2, until: .maxRetries(1)))],
                options: options.replacing
            )
            let observation = try subject.stack().observe(resource)
            try expectEqual(try await observation.onlyOutcome(within: .seconds(10) * scale).text(), "x", "the body")
            try expectEqual(peer.requests().count, 1, "requests on the wire")
        },
        ConformanceCheck("A retry starts even if its clock fails") { subject in
            let count = Lock(0)
            let peer = try subject.serve { _ in
                count.withLock { count in
                    count += 1
                    return count == 1 ? .status(503) : .ok("x")
                }
            }
            let stack = try subject.stack { $0.retryClock = FailingClock() }
            let policy = HTTPRetryPolicy.backoff(.constant(delay: 60, until: .maxRetries(1)))
            let observation = try stack.observe(.intercepted(peer.url("/"), by: [policy]))
            try expectEqual(try await observation.onlyOutcome(within: .seconds(10)).text(), "x", "the body")
        },
        ConformanceCheck("The total timeout bounds all attempts and the delays between them") { subject, scale in
            let peer = try subject.serve { _ in .status(503) }
            let stack = try subject.stack { $0.options.timeouts.total = .milliseconds(300) * scale }
            let policy = HTTPRetryPolicy.backoff(.constant(delay: 600, until: .maxRetries(3)))
            let observation = try stack.observe(.intercepted(peer.url("/"), by: [policy]))
            try await observation.onlyOutcome(within: .seconds(10)).expectTimeout(.total, during: [.delayed])
            try expect(
                observation.elapsed >= .milliseconds(300) * scale,
                "The timeout fired after \(observation.elapsed)"
            )
            try expectEqual(peer.requests().count, 1, "requests on the wire")
        },
    ]
}

/// A clock whose sleeps fail.
private struct FailingClock: Clock {
    struct Failure: Error {}

    var now: VirtualClock.Instant { VirtualClock.Instant(offset: .zero) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: VirtualClock.Instant, tolerance: Duration?) async throws { throw Failure() }
}
