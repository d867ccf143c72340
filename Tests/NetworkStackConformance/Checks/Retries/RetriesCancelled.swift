import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// A cancel in every place where an intercepted fetch waits.
    static let retryCancels: [ConformanceCheck] = [
        ConformanceCheck("A cancel during a delayed retry ends the fetch (upstream R1)") { subject in
            let (clock, peer) = (VirtualClock(), try subject.serve { .ok($0.path) })
            let failing = try subject.serve { _ in .status(500) }
            let stack = try subject.stack { $0.retryClock = clock }
            let policy = HTTPRetryPolicy.backoff(.constant(delay: 60, until: .maxRetries(3)))
            let observation = try stack.observe(.intercepted(failing.url("/"), by: [policy]))
            try await eventually("the retry waits") { clock.sleeperCount == 1 }
            observation.cancel()
            // It is also released: no wait may retain the fetch (upstream R3).
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            try await eventually("the wait is cancelled") { clock.sleeperCount == 0 }
            clock.advance(by: .seconds(3600))
            try await stack.text(peer.url("/after"))
            try expectEqual(failing.requests().count, 1, "requests on the wire")
        },
        ConformanceCheck("A cancelled fetch reports its earlier failure once and unchanged (upstream R9)") {
            subject in
            let (clock, log, statuses) = (VirtualClock(), EventLog(), Lock<[HTTP.StatusCode?]>([]))
            let peer = try subject.serve { _ in .status(503) }
            let stack = try subject.stack { $0.retryClock = clock }
            let spy = Spy("spy", log).with {
                $0.vote = { event in
                    statuses.withLock { $0.append((event.error as? any HTTPError)?.statusCode) }
                    return .retryAfter(60)
                }
            }
            let observation = try stack.observe(.intercepted(peer.url("/"), by: [spy])) { _ in log.add("completion") }
            try await eventually("the retry waits") { clock.sleeperCount == 1 }
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            let events = ["makes a request", "schedules attempt 1", "fails attempt 1"].map { "spy \($0)" }
            try expectEqual(log.all, events + ["completion"], "the events")
            try expectEqual(statuses.withLock { $0 }, [503], "the status of the failed attempt")
        },
        ConformanceCheck("A cancel during a delay on the retry queue ends the fetch") { subject in
            let (failed, peer) = (Gate(), try subject.serve { _ in .status(500) })
            let spy = Spy("spy").with {
                $0.vote = { _ in
                    failed.open()
                    return .retryAfter(600)
                }
            }
            let observation = try subject.stack().observe(.intercepted(peer.url("/"), by: [spy]))
            try await failed.opened()
            // The current vote has ended by then.
            try await Task.sleep(for: .milliseconds(100))
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
        },
        ConformanceCheck("A delayed retry starts when its time has come, not sooner") { subject in
            let (clock, count) = (VirtualClock(), Lock(0))
            let peer = try subject.serve { _ in
                count.withLock { $0 += 1 }
                return count.withLock { $0 } == 1 ? .status(500) : .ok("x")
            }
            let stack = try subject.stack { $0.retryClock = clock }
            let policy = HTTPRetryPolicy.backoff(.constant(delay: 60, until: .maxRetries(3)))
            let observation = try stack.observe(.intercepted(peer.url("/"), by: [policy]))
            try await eventually("the retry waits") { clock.sleeperCount == 1 }
            clock.advance(by: .milliseconds(59_999))
            try await stack.text(peer.url("/other"))
            try expect(!observation.isCompleted && clock.sleeperCount == 1, "The retry did not wait")
            clock.advance(by: .milliseconds(1))
            try expectEqual(try await observation.onlyOutcome().text(), "x", "the body")
        },
        ConformanceCheck("A cancel beats a vote for a retry, immediate or delayed") { subject in
            for action: Retry.Action in [.retry, .retryAfter(0.001), .noRetry(.retries(1)), .none] {
                let (voting, voted) = (Gate(), Latch())
                let peer = try subject.serve { $0.path.hasSuffix("/other") ? .ok("other") : .status(500) }
                let stack = try subject.stack()
                let spy = Spy("spy").with {
                    $0.vote = { _ in
                        voting.open()
                        voted.wait()
                        return action
                    }
                }
                let observation = try stack.observe(.intercepted(peer.url("/"), by: [spy]))
                try await voting.opened()
                observation.cancel()
                voted.open()
                try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
                // A cancelled request would be sent meanwhile, or before this one.
                try await Task.sleep(for: .milliseconds(20))
                try await stack.text(peer.url("/other"))
                try expectEqual(peer.requests().map(\.path), ["/", "/other"], "requests on the wire after \(action)")
            }
        },
        ConformanceCheck("A cancelled attempt's end is reported once, as a failure (upstream R2)") { subject in
            let (arrived, held, log) = (Gate(), Latch(), EventLog())
            defer { held.open() }
            let peer = try subject.serve { _ in
                arrived.open()
                held.wait()
                return .ok("late")
            }
            let spy = Spy("spy", log).with { $0.vote = { _ in .retry } }
            let observation = try subject.stack().observe(.intercepted(peer.url("/"), by: [spy]))
            try await arrived.opened()
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            let events = ["makes a request", "schedules attempt 1", "fails attempt 1"].map { "spy \($0)" }
            try await eventually("the end is reported") { log.all.count >= events.count }
            try expectEqual(log.all, events, "the events")
            // Before the server is released, which waits for its handlers.
            held.open()
            try expectEqual(peer.requests().count, 1, "requests on the wire")
        },
        ConformanceCheck("A cancel while an interceptor holds the request ends both") {
            subject in
            let (began, ended, peer) = (Gate(), Gate(), try subject.serve { .ok($0.path) })
            let slow = AsyncParts(make: { request in
                began.open()
                defer { ended.open() }
                try await Task.sleep(for: .seconds(60))
                return request
            })
            let observation = try subject.stack().observe(.intercepted(peer.url("/"), by: [slow]))
            try await began.opened()
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            try await ended.opened()
            try expectEqual(peer.requests().count, 0, "requests on the wire")
        },
        ConformanceCheck("A cancel in the second attempt ends the fetch") { subject in
            let (arrived, held, count) = (Gate(), Latch(), Lock(0))
            defer { held.open() }
            let peer = try subject.serve { _ in
                count.withLock { $0 += 1 }
                guard count.withLock({ $0 }) > 1 else { return .status(500) }
                arrived.open()
                held.wait()
                return .ok("late")
            }
            let observation = try subject.stack().observe(
                .intercepted(peer.url("/"), by: [HTTPRetryPolicy.maxRetries(9)])
            )
            try await arrived.opened()
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            held.open()
            try expectEqual(peer.requests().count, 2, "requests on the wire")
        },
        ConformanceCheck("A stack dropped during a delayed retry still completes (upstream R4)") {
            subject in
            let (clock, count) = (VirtualClock(), Lock(0))
            let peer = try subject.serve { _ in
                count.withLock { $0 += 1 }
                return count.withLock { $0 } == 1 ? .status(500) : .ok("x")
            }
            let policy = HTTPRetryPolicy.backoff(.constant(delay: 60, until: .maxRetries(3)))
            let observation = try subject.stack { $0.retryClock = clock }
                .observe(.intercepted(peer.url("/"), by: [policy]))
            try await eventually("the retry waits") { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(60))
            try expectEqual(try await observation.onlyOutcome().text(), "x", "the body")
        },
    ]
}
