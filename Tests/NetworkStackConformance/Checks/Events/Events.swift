import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The events of fetches.
    static let events: [ConformanceCheck] = [
        ConformanceCheck("A success reports its events in order") { subject in
            let recorder = EventRecorder()
            let peer = try subject.serve { _ in .ok("four") }
            let stack = try subject.stack { $0.listeners = [recorder] }
            try await stack.text(peer.url("/"))
            let events = try await recorder.ended(1)[0]
            try expectEqual(events.map(\.name).first, "fetchStarted", "the first event of \(events)")
            for name in ["attemptStarted 1", "queued", "firstByteReceived", "headReceived 200", "bodyReceived 4"] {
                try expectEqual(events.count { "\($0)" == name }, 1, "'\(name)' in \(events)")
            }
            try expectEqual(
                "\(events.last.map { "\($0)" } ?? "")",
                "fetchSucceeded 200 4",
                "the last event of \(events)"
            )
        },
        ConformanceCheck("A failure reports its events in order, and its status") { subject in
            let recorder = EventRecorder()
            let peer = try subject.serve { _ in .status(404) }
            let stack = try subject.stack { $0.listeners = [recorder] }
            _ = try await stack.observe(peer.url("/")).onlyOutcome()
            let events = try await recorder.ended(1)[0]
            try expectEqual(events.count { $0.description == "headReceived 404" }, 1, "heads in \(events)")
            try expectEqual(events.last?.name, "fetchFailed", "the last event of \(events)")
        },
        ConformanceCheck("A request that cannot be made reports a failure and no attempt") { subject in
            let recorder = EventRecorder()
            let stack = try subject.stack { $0.listeners = [recorder] }
            _ = try await stack.observe(.made { $0(.failure(CancellationError())) }).onlyOutcome()
            let events = try await recorder.ended(1)[0]
            try expectEqual(events.map(\.name), ["fetchStarted", "fetchFailed"], "the events")
        },
        ConformanceCheck("A cancel reports the cancel alone as the end") { subject in
            let (recorder, arrived, held) = (EventRecorder(), Gate(), Latch())
            defer { held.open() }
            let peer = try subject.serve { _ in
                arrived.open()
                held.wait()
                return .ok("x")
            }
            let stack = try subject.stack { $0.listeners = [recorder] }
            let waiting = try stack.observe(peer.url("/"))
            try await arrived.opened()
            waiting.cancel()
            waiting.cancel()
            _ = try await waiting.onlyOutcome()
            let events = try await recorder.ended(1)[0]
            try expectEqual(events.last?.name, "fetchCancelled", "the last event of \(events)")
        },
        ConformanceCheck("A redirect reports each request") { subject in
            let recorder = EventRecorder()
            let peer = try subject.serve { $0.path.hasSuffix("/start") ? .redirect(to: "/next") : .ok("x") }
            let stack = try subject.stack { $0.listeners = [recorder] }
            try await stack.text(peer.url("/start"))
            let events = try await recorder.ended(1)[0]
            try expectEqual(
                events.filter { ["queued", "headReceived", "redirected", "attemptStarted"].contains($0.name) }
                    .map { "\($0.event?.hop ?? 0) \($0)" },
                [
                    "1 attemptStarted 1", "1 queued", "1 headReceived 302", "1 redirected 302", "2 queued",
                    "2 headReceived 200",
                ],
                "the events"
            )
        },
        ConformanceCheck("A retry reports each attempt") { subject in
            let (recorder, count) = (EventRecorder(), Lock(0))
            let peer = try subject.serve { _ in
                count.withLock { $0 += 1 }
                return count.withLock { $0 } == 1 ? .status(503) : .ok("x")
            }
            let stack = try subject.stack {
                $0.listeners = [recorder]
                $0.interceptors = [HTTPRetryPolicy.maxRetries(1)]
            }
            try await stack.text(peer.url("/"))
            let events = try await recorder.ended(1)[0]
            try expectEqual(
                events.filter {
                    ["attemptStarted", "headReceived", "retryScheduled", "fetchSucceeded"].contains($0.name)
                }
                .map { "\($0.event?.attempt ?? 0) \($0)" },
                [
                    "1 attemptStarted 1", "1 headReceived 503", "1 retryScheduled", "2 attemptStarted 2",
                    "2 headReceived 200", "2 fetchSucceeded 200 1",
                ],
                "the events"
            )
        },
        ConformanceCheck("The events of an attempt without a request have its number") { subject in
            struct Unmade: Error {}
            let (recorder, calls) = (EventRecorder(), Lock(0))
            let peer = try subject.serve { _ in .status(503) }
            let url = peer.url("/")
            let stack = try subject.stack {
                $0.listeners = [recorder]
                $0.interceptors = [HTTPRetryPolicy.maxRetries(2)]
            }
            let observation = stack.observe(
                .made { handler in
                    let isFirst = calls.withLock { calls in
                        calls += 1
                        return calls == 1
                    }
                    guard isFirst else { return handler(.failure(Unmade())) }
                    return handler(Result { try HTTP.Request(url: url) })
                }
            )
            _ = try await observation.onlyOutcome()
            let events = try await recorder.ended(1)[0]
            try expectEqual(
                events.filter { ["attemptStarted", "retryScheduled", "fetchFailed"].contains($0.name) }
                    .map { "\($0.event?.attempt ?? 0) \($0.name)" },
                ["1 attemptStarted", "1 retryScheduled", "2 retryScheduled", "3 fetchFailed"],
                "the events"
            )
        },
        ConformanceCheck("A delay that no clock can hold is reported, and waited for") { subject in
            let (recorder, count) = (EventRecorder(), Lock(0))
            let peer = try subject.serve { _ in
                count.withLock { $0 += 1 }
                let later = [("Retry-After", String(repeating: "9", count: 400))]
                return count.withLock { $0 } == 1 ? .status(503, headers: later) : .ok("x")
            }
            let stack = try subject.stack {
                $0.listeners = [recorder]
                $0.retryClock = VirtualClock(keepsUp: true)
                $0.interceptors = [HTTPRetryPolicy.maxRetries(1).respectingRetryAfter(upTo: .infinity)]
            }
            try await stack.text(peer.url("/"))
            let names = try await recorder.ended(1)[0].map(\.name)
            try expect(names.contains("retryScheduled"), "No retry among \(names)")
        },
        ConformanceCheck("A stream reports its success when its body has arrived") { subject in
            let (recorder, held) = (EventRecorder(), Latch())
            defer { held.open() }
            let peer = try subject.serve { _ in .ok("twelve bytes") }
            let client = try subject.streaming { $0.listeners = [recorder] }
            let opened = try await client.open(peer.url("/"))
            try expectBytes(try await opened.value.collect(), "twelve bytes".utf8)
            let events = try await recorder.ended(1)[0]
            try expectEqual(events.last.map { "\($0)" }, "fetchSucceeded 200 12", "the last event of \(events)")
        },
        ConformanceCheck("Listeners get the library's vulnerabilities once, before other events") { subject in
            let listener = AdvisoryListener()
            let peer = try subject.serve { _ in .ok("x") }
            let stack = try subject.stack { $0.listeners = [listener] }
            for _ in 0..<2 { try await stack.text(peer.url("/")) }
            try await eventually("both fetches are reported") {
                listener.received.withLock { $0.count(where: \.isEmpty) } == 2
            }
            let advisories = stack.capabilities.advisories.map(\.id)
            let expected = (advisories.isEmpty ? [] : [advisories]) + [[], []]
            try expectEqual(
                listener.received.withLock { $0 },
                expected,
                "the vulnerabilities and starts that were reported"
            )
        },
        ConformanceCheck("A stream that is cut off reports a failure", needs: [.network]) { subject in
            let recorder = EventRecorder()
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close]
            }
            let client = try subject.streaming { $0.listeners = [recorder] }
            do {
                let opened = try await client.open(server.url())
                _ = try await streamFailure { _ = try await opened.value.collect() }
            } catch is HTTPFetchError<HTTP.Response, any Error> {
                // The fault may have been read with the head.
            }
            let events = try await recorder.ended(1)[0]
            try expectEqual(events.last?.name, "fetchFailed", "the last event of \(events)")
        },
        ConformanceCheck("A listener that blocks delays no fetch") { subject in
            let (blocked, held) = (BlockedListener(), 20)
            defer { blocked.latch.open() }
            let peer = try subject.serve { _ in .ok("x") }
            let stack = try subject.stack { $0.listeners = [blocked] }
            for _ in 0..<held { try await stack.text(peer.url("/")) }
            try expectEqual(blocked.count, 1, "events that came while the listener was blocked")
            blocked.latch.open()
            try await eventually("the events have come") { blocked.ends == held }
        },
    ]
}

extension EventRecorder {
    /// Waits until this many fetches have ended, and expects the documented order of each.
    ///
    /// - Returns: The events of each fetch.
    func ended(_ count: Int) async throws -> [[Entry]] {
        let ends = ["fetchSucceeded", "fetchFailed", "fetchCancelled"]
        try await eventually("\(count) fetches have ended: \(entries)") {
            entries.count { ends.contains($0.name) } >= count
        }
        let fetches = fetches
        try expectEqual(fetches.count, count, "the fetches")
        for events in fetches {
            if let fault = Self.fault(in: events) { throw ConformanceFailure(fault) }
        }
        return fetches
    }
}

/// Blocks in its first event.
private final class BlockedListener: EventListener {
    let latch = Latch()
    private let counts = Lock((all: 0, ends: 0))

    var count: Int { counts.withLock { $0.all } }
    var ends: Int { counts.withLock { $0.ends } }

    func fetchStarted(_ event: FetchEvent) {
        counts.withLock { $0.all += 1 }
        latch.wait()
    }

    func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) { counts.withLock { $0.ends += 1 } }
}

/// Records vulnerabilities, and the starts of fetches as empty lists.
private final class AdvisoryListener: EventListener {
    let received = Lock<[[String]]>([])

    func advisoriesFound(_ advisories: [HTTP.Advisory]) { received.withLock { $0.append(advisories.map(\.id)) } }
    func fetchStarted(_ event: FetchEvent) { received.withLock { $0.append([]) } }
}
