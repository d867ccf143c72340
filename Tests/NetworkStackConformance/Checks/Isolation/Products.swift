import Dispatch
import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Two features in one fetch.
    static let products: [ConformanceCheck] = [
        ConformanceCheck("A retry counts its redirects anew") { subject in
            let count = Lock(0)
            let peer = try subject.serve { request in
                switch request.path.last {
                case "1": return .redirect(to: "/2")
                case "2": return .redirect(to: "/3")
                default: return count.next() == 1 ? .status(503) : .ok("whole")
                }
            }
            let stack = try subject.stack { $0.options.redirects.limit = 2 }
            let spy = Spy("retry").with { $0.vote = { $0.response?.status == 503 ? .retry : .none } }
            let outcome = try await stack.observe(.intercepted(peer.url("/1"), by: [spy])).onlyOutcome()
            let response = try outcome.value().response
            try expectEqual(response.redirects.count, 2, "redirects")
            try expectEqual(response.metrics.hopCount, 3, "hops")
            try expectEqual(peer.requests().map(\.path), ["/1", "/2", "/3", "/1", "/2", "/3"], "requests")
        },
        ConformanceCheck("A retry of a redirected POST sends the POST again") { subject in
            let count = Lock(0)
            let peer = try subject.serve { request in
                if request.path == "/start" { return .redirect(303, to: "/next") }
                return count.next() == 1 ? .status(503) : .ok("whole")
            }
            let spy = Spy("retry").with { $0.vote = { $0.response?.status == 503 ? .retry : .none } }
            let content = HTTP.Body.bytes(Data("content".utf8))
            let stack = try subject.stack()
            try await stack.observe(.intercepted(peer.url("/start"), method: .POST, body: content, by: [spy]))
                .onlyOutcome().value()
            let seen = peer.requests().map { "\($0.method) \($0.path) \($0.text)" }
            let attempt = ["POST /start content", "GET /next "]
            try expectEqual(seen, attempt + attempt, "requests")
        },
        ConformanceCheck(
            "The metrics count body bytes before decompression in every coding",
            needs: [.network, .decompression, .decompressionRatio]
        ) { subject in
            for (coding, bytes) in Compressed.byCoding {
                let plain = Reply.ok(bytes: bytes, headers: [("Content-Encoding", coding)])
                let server = try ScriptedServer.responding { request in
                    request.path == "/chunked" ? .coded(coding, inChunksOf: bytes) : plain
                }
                let views = try subject.makeViews(Network.Configuration())
                for path in ["/plain", "/chunked"] {
                    let collected = try await views.collected.observe(server.url(path)).onlyOutcome().value()
                    try expectBytes(collected.value, Compressed.text, coding)
                    try expectEqual(collected.response.metrics.bytesReceived, Int64(bytes.count), "\(coding) \(path)")
                }
            }
        },
        ConformanceCheck("A resource that was collected streams as its bytes arrive", needs: [.network]) { subject in
            let goOn = Gate()
            let server = try ScriptedServer { index in
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n"
                return index == 1
                    ? [.receiveHead, .send(head + "first"), .wait(for: goOn), .send("later"), .close]
                    : [.receiveHead, .send(head + "firstlater"), .close]
            }
            let views = try subject.makeViews(Network.Configuration())
            // One request, so that what is kept of one fetch fits the next.
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: .request(try HTTP.Request(url: server.url())),
                errorDecoding: .dummy
            )
            try expectEqual(try await views.collected.observe(resource).onlyOutcome().text(), "firstlater", "collected")
            let text = try await bounded(.seconds(20)) {
                var chunks = try await views.streamed.fetch(resource: resource).value.makeAsyncIterator()
                let first = try await chunks.text(ofAtLeast: 5)
                try expectEqual(first, "first", "the bytes received before the server continues")
                goOn.open()
                return try await first + chunks.text()
            }
            try expectEqual(text, "firstlater", "streamed")
            try expectEqual(try await views.collected.observe(resource).onlyOutcome().text(), "firstlater", "again")
        },
        ConformanceCheck("The metrics of a redirected fetch report its last hop's wait", needs: [.network]) {
            subject in
            let bottleneck = try await Bottleneck(subject)
            defer { bottleneck.open() }
            let target = bottleneck.server.url("/queued")
            let free = try ScriptedServer.responding { _ in .redirect(to: target) }
            let fetch = try bottleneck.stack.observe(free.url())
            try await free.sees("the redirect") { $0.requests.count == 1 }
            try await Task.sleep(for: .milliseconds(200))
            let held = ContinuousClock.now
            try await Task.sleep(for: .milliseconds(100))
            let least = ContinuousClock.now - held
            bottleneck.open()
            let metrics = try await fetch.onlyOutcome().value().response.metrics
            let waited = metrics.queue ?? .zero
            try expect(waited >= least - .milliseconds(1), "The metrics report \(waited), expected at least \(least)")
            try expect(waited <= metrics.total + .milliseconds(1), "The wait was \(waited) of \(metrics.total)")
            let next = try await bottleneck.stack.observe(bottleneck.server.url("/next")).onlyOutcome().value()
            let rest = next.response.metrics.queue ?? .zero
            try expect(rest <= next.response.metrics.total, "A fetch with a free connection slot waited \(rest)")
        },
    ]

    /// Fetches from many threads at once.
    static let races: [ConformanceCheck] = [
        ConformanceCheck("Fetches from eight threads have distinct identifiers") { subject in
            let seen = Lock<[Int]>([])
            let spy = Spy("identified").with { spy in
                spy.scheduled = { event in seen.withLock { $0.append(event.identifier) } }
            }
            let (peer, listener) = (try subject.serve { _ in .ok("one") }, NumberListener())
            let stack = try subject.stack {
                $0.connections.perHost = 8
                $0.listeners = [listener]
            }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(peer.url("/"), by: [spy])
            let each = 150
            let fetches = Lock<[Observation]>([])
            try await onEightThreads {
                for _ in 0..<each {
                    let fetch = stack.observe(resource)
                    fetches.withLock { $0.append(fetch) }
                }
            }
            for fetch in fetches.withLock({ $0 }) { try await fetch.outcome().value() }
            let identifiers = seen.withLock { $0 }
            try expectEqual(identifiers.count, 8 * each, "fetches")
            try expectEqual(Set(identifiers).count, 8 * each, "identifiers")
            try await eventually("all ends are reported") { listener.numbers.count == 8 * each }
            try expectEqual(Set(listener.numbers).count, 8 * each, "numbers in events")
        },
        ConformanceCheck("A one-shot body is sent once, whichever thread comes first") { subject in
            let peer = try subject.serve { _ in .ok("one") }
            let stack = try subject.stack()
            for round in 0..<20 {
                let chunks = AsyncStream<Data> { continuation in
                    continuation.yield(Data("once".utf8))
                    continuation.finish()
                }
                let body = HTTP.Body.stream(.init(chunks, length: 4))
                let fetches = Lock<[Observation]>([])
                let url = peer.url("/\(round)")
                try await onEightThreads {
                    guard let fetch = try? stack.observe(url, method: .PUT, body: body) else { return }
                    fetches.withLock { $0.append(fetch) }
                }
                var good = 0
                for fetch in fetches.withLock({ $0 }) {
                    if case .success = try await fetch.onlyOutcome() { good += 1 }
                }
                try expectEqual(good, 1, "fetches that sent it")
            }
            try expectEqual(peer.requests().map(\.text), Array(repeating: "once", count: 20), "requests")
        },
        ConformanceCheck("Cancels from eight threads act as one cancel") { subject in
            for _ in 0..<20 {
                let maker = PatientMaker()
                let fetch = try subject.stack().observe(maker.resource())
                try await eventually("the maker was called") { maker.count == 1 }
                try await onEightThreads { fetch.cancel() }
                try await fetch.onlyOutcome().expectCancelled()
                try expectEqual(maker.cancelable.count, 1, "cancels of the maker")
            }
        },
    ]

    /// Objects are released when they are no longer needed.
    static let lifetimes: [ConformanceCheck] = [
        ConformanceCheck("A cancelled delay releases its fetch") { subject in
            let peer = try subject.serve { _ in .status(503) }
            let stack = try subject.stack()
            let released = Gate()
            let fetch = try stack.observe(delayed(peer.url("/"), keeping: Lifetime(released)))
            try await eventually("the first attempt") { peer.requests().count == 1 }
            try await Task.sleep(for: .milliseconds(50))
            fetch.cancel()
            try await fetch.onlyOutcome().expectCancelled()
            do { try await released.opened(within: .seconds(5)) } catch is WaitTimedOut {
                throw ConformanceFailure("The resource of a cancelled fetch is retained for its delay")
            }
        },
        ConformanceCheck("A cancelled fetch releases its body, whatever it waits for", needs: [.network]) { subject in
            var silent = ScriptedServer.Options(tls: try TestCertificates.shared().server)
            silent.answersHandshake = false
            let servers = try [
                ("the response", ScriptedServer { _ in [.receiveHead, .waitForClose] }),
                ("the handshake", ScriptedServer(silent) { _ in [] }),
            ]
            // The second fetch waits for the version that the first negotiates, or sends its own request.
            for (wait, server) in servers {
                let stack = try subject.stack {
                    if subject.capabilities.supports(.expectContinue) { $0.options.expectContinue = .seconds(60) }
                }
                let released = [Gate(), Gate()]
                let fetches = try released.map {
                    try stack.observe(server.url(), method: .PUT, body: body(keeping: Lifetime($0)))
                }
                try await server.sees("a connection") { !$0.connections.isEmpty && $0.connections[0].receivedCount > 0 }
                try await Task.sleep(for: .milliseconds(50))
                for (fetch, gate) in zip(fetches, released).reversed() {
                    fetch.cancel()
                    try await fetch.onlyOutcome().expectCancelled()
                    do { try await gate.opened(within: .seconds(5)) } catch is WaitTimedOut {
                        throw ConformanceFailure("The body of a fetch that waited for \(wait) is retained")
                    }
                }
            }
        },
        ConformanceCheck("Every producer of a repeated body is released") { subject in
            let (begun, ended, count) = (Lock(0), Lock(0), Lock(0))
            let peer = try subject.serve { _ in
                switch count.next() {
                case 1: .redirect(307, to: "/next")
                case 2: .status(503)
                default: .ok("whole")
                }
            }
            let body = HTTP.Body.stream(
                .init(length: 300_000) {
                    _ = begun.next()
                    return AsyncStream<Data> { continuation in
                        continuation.onTermination = { _ in _ = ended.next() }
                        for _ in 0..<3 { continuation.yield(patternBytes(100_000)) }
                        continuation.finish()
                    }
                }
            )
            let spy = Spy("retry").with { $0.vote = { $0.response?.status == 503 ? .retry : .none } }
            try await subject.stack().observe(.intercepted(peer.url("/"), method: .PUT, body: body, by: [spy]))
                .onlyOutcome().value()
            try expectEqual(peer.requests().map(\.bodyCount), Array(repeating: 300_000, count: 3), "body bytes")
            try await eventually("all makers have ended") { begun.withLock { $0 } == ended.withLock { $0 } }
        },
    ]

    /// A resource that is retried in an hour, and retains a value.
    private static func delayed(_ url: String, keeping value: Lifetime) throws -> ConformanceSubject.Stack.Resource {
        let spy = Spy("retry").with { spy in
            spy.vote = { _ in withExtendedLifetime(value) { .retryAfter(3600) } }
        }
        return try .intercepted(url, by: [spy])
    }

    /// A body that retains a value.
    private static func body(keeping value: Lifetime) -> HTTP.Body {
        .stream(.init(length: 4) { withExtendedLifetime(value) { AsyncStream([Data("body".utf8)]) } })
    }

    /// Runs a closure on eight threads, which start together.
    private static func onEightThreads(_ body: @escaping @Sendable () -> Void) async throws {
        let (waiting, begins, group) = (Lock(0), Latch(), DispatchGroup())
        for _ in 0..<8 {
            DispatchQueue(label: "one of eight").async(group: group) {
                _ = waiting.next()
                begins.wait()
                body()
            }
        }
        try await eventually("eight threads wait") { waiting.withLock { $0 } == 8 }
        begins.open()
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { continuation.resume() }
        }
    }
}

extension Lock<Int> {
    /// Increments the count.
    fileprivate func next() -> Int {
        withLock { count in
            count += 1
            return count
        }
    }
}

extension Reply {
    /// A body in a coding, in chunks of one byte.
    fileprivate static func coded(_ coding: String, inChunksOf bytes: [UInt8]) -> Reply {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nTransfer-Encoding: chunked\r\n\r\n"
        let body = bytes.flatMap { Array("1\r\n".utf8) + [$0] + Array("\r\n".utf8) } + Array("0\r\n\r\n".utf8)
        return Reply(head: Array(head.utf8), body: body)
    }
}

/// Records the number of each successful fetch.
private final class NumberListener: EventListener {
    let observesSteps = false
    private let seen = Lock<[Int]>([])

    var numbers: [Int] { seen.withLock { $0 } }

    func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) { seen.withLock { $0.append(event.fetch) } }
}
