import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The effect of a retry on the body of a request.
    static let retryBodies: [ConformanceCheck] = [
        ConformanceCheck(
            "A one-shot body is never sent twice, whatever the votes",
            needs: [.streamedRequestBody]
        ) {
            subject in
            let peer = try subject.serve { _ in .status(503) }
            let chunks = AsyncStream<Data> { continuation in
                continuation.yield(Data("once".utf8))
                continuation.finish()
            }
            let outcome = try await subject.stack().observe(
                .intercepted(
                    peer.url("/"),
                    method: .POST,
                    body: .stream(.init(chunks, length: 4)),
                    by: [HTTPRetryPolicy.maxRetries(3)]
                )
            ).onlyOutcome()
            guard case .bodyNotReplayable = try outcome.refusal() else {
                throw ConformanceFailure("Expected bodyNotReplayable, saw \(outcome.summary)")
            }
            try expectEqual(peer.requests().map(\.text), ["once"], "what the server received")
        },
        ConformanceCheck(
            "A form with a one-shot part is sent only once",
            needs: [.network, .streamedRequestBody]
        ) { subject in
            let server = try ScriptedServer { _ in
                [.repeat([.receiveRequest, .send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")])]
            }
            var form = MultipartFormData()
            form.append(.init(AsyncStream([Data("once".utf8)])), name: "part")
            let made = form
            let resource = ConformanceSubject.Stack.Resource.made(by: [HTTPRetryPolicy.maxRetries(3)]) { handler in
                handler(Result { try HTTP.Request(method: .POST, url: server.url(), body: made.content().body) })
            }
            let outcome = try await subject.stack().observe(resource).onlyOutcome()
            guard case .bodyNotReplayable = try outcome.refusal() else {
                throw ConformanceFailure("Expected bodyNotReplayable, saw \(outcome.summary)")
            }
            try expectEqual(server.requests.count, 1, "requests")
        },
        ConformanceCheck("Invalid options fail the fetch once, whatever the votes") { subject in
            let log = EventLog()
            let peer = try subject.serve { _ in .ok("x") }
            let spy = Spy("spy", log).with {
                $0.vote = { event in
                    log.add("final: \((event.error as? any HTTPError)?.isFinal == true)")
                    return .retry
                }
            }
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: .request(try HTTP.Request(url: peer.url("/"))),
                interceptors: [spy],
                options: { $0.timeouts.idle = .zero }
            )
            let refusal = try await subject.stack().observe(resource).onlyOutcome().refusal()
            guard case .invalidRequest = refusal else {
                throw ConformanceFailure("Expected invalid options, saw \(refusal)")
            }
            try expectEqual(log.all, ["spy fails attempt 1 without a request", "final: true"], "the events")
        },
        ConformanceCheck("A repeatable body is sent whole in every attempt") { subject in
            let peer = try subject.serve { _ in .status(503) }
            let stack = try subject.stack()
            let stream = HTTP.Body.Stream(length: 5) {
                AsyncStream<Data> { continuation in
                    continuation.yield(Data("again".utf8))
                    continuation.finish()
                }
            }
            let isStreamed = subject.capabilities.supports(.streamedRequestBody)
            for body in [HTTP.Body.bytes(Data("again".utf8))] + (isStreamed ? [.stream(stream)] : []) {
                let resource = try ConformanceSubject.Stack.Resource.intercepted(
                    peer.url("/"),
                    method: .POST,
                    body: body,
                    by: [HTTPRetryPolicy.maxRetries(2)]
                )
                _ = try await stack.observe(resource).onlyOutcome().retryError()
            }
            try expect(peer.requests().allSatisfy { $0.text == "again" }, "what the server received")
            try expectEqual(peer.requests().count, isStreamed ? 6 : 3, "requests on the wire")
        },
    ]

    /// The ready-made policies, over a network.
    static let retriesAtWork: [ConformanceCheck] = [
        ConformanceCheck("A retry waits as long as Retry-After demands", rests: [.rfc(9110, "10.2.3")]) {
            subject in
            let (clock, count) = (VirtualClock(keepsUp: true), Lock(0))
            let peer = try subject.serve { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                switch number {
                case 1: return .status(503, headers: [("Retry-After", "7")])
                case 2: return .status(429, headers: [("Retry-After", "Sun, 06 Nov 1994 08:49:47 GMT")])
                case 3: return .status(503, headers: [("Retry-After", "0.75")])
                default: return .ok("x")
                }
            }
            let policy = HTTPRetryPolicy.maxRetries(5).whenTransient().whenSafe().respectingRetryAfter(
                upTo: 30,
                now: { Date(timeIntervalSince1970: 784_111_777) }
            )
            let stack = try subject.stack { $0.retryClock = clock }
            try expectEqual(
                try await stack.observe(.intercepted(peer.url("/"), by: [policy])).onlyOutcome().text(),
                "x",
                "the content"
            )
            try expectEqual(clock.sleeps, [.seconds(7), .seconds(10), .milliseconds(750)], "the delays")
        },
        ConformanceCheck("Repeated Retry-After fields are honoured", rests: [.rfc(9110, "10.2.3")]) { subject in
            let (clock, count) = (VirtualClock(keepsUp: true), Lock(0))
            let date = "Sun, 06 Nov 1994 08:49:47 GMT"
            let peer = try subject.serve { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let fields = [["7", "7"], [date, date], ["5", "9"]]
                guard number <= fields.count else { return .ok("x") }
                return .status(503, headers: fields[number - 1].map { ("Retry-After", $0) })
            }
            let policy = HTTPRetryPolicy.maxRetries(5).respectingRetryAfter(
                upTo: 30,
                now: { Date(timeIntervalSince1970: 784_111_777) }
            )
            let stack = try subject.stack { $0.retryClock = clock }
            _ = try await stack.observe(.intercepted(peer.url("/"), by: [policy])).onlyOutcome().text()
            try expectEqual(clock.sleeps, [.seconds(7), .seconds(10), .seconds(5)], "the delays")
        },
        ConformanceCheck("An answered POST is not repeated without an idempotency key") { subject in
            let peer = try subject.serve { _ in .status(503) }
            let stack = try subject.stack { $0.interceptors = [HTTPRetryPolicy.maxRetries(1).whenSafe()] }
            func attempts(_ method: HTTP.Method, _ headers: HTTP.Headers = [:]) async throws -> Int {
                let before = peer.requests().count
                _ = try await stack.observe(peer.url("/"), method: method, headers: headers).onlyOutcome()
                return peer.requests().count - before
            }
            try expectEqual(try await attempts(.GET), 2, "attempts of a GET")
            try expectEqual(try await attempts(.POST), 1, "attempts of a POST")
            try expectEqual(try await attempts(.POST, [.idempotencyKey: "k"]), 2, "attempts of a POST with a key")
            try expectEqual(try await attempts(.PUT), 2, "attempts of a PUT")
        },
        ConformanceCheck("A POST that reached no server is sent again", needs: [.network]) { subject in
            let (log, closed) = (EventLog(), try ClosedPort.reserve())
            let stack = try subject.stack {
                $0.interceptors = [Spy("spy", log), HTTPRetryPolicy.maxRetries(2).whenSafe()]
            }
            _ = try await stack.observe("http://127.0.0.1:\(closed.port)/", method: .POST).onlyOutcome().retryError()
            try expectEqual(log.all.count { $0.contains("schedules") }, 3, "attempts")
        },
        ConformanceCheck("A POST redirected to an unreachable server is not sent again", needs: [.network]) { subject in
            let closed = try ClosedPort.reserve()
            let server = try ScriptedServer.responding { _ in .redirect(to: "http://127.0.0.1:\(closed.port)/") }
            let stack = try subject.stack { $0.interceptors = [HTTPRetryPolicy.maxRetries(2).whenSafe()] }
            let outcome = try await stack.observe(server.url(), method: .POST).onlyOutcome()
            guard case .failure = outcome else { throw ConformanceFailure("Saw \(outcome.summary)") }
            try expectEqual(server.requests.map(\.method), ["POST"], "what the server received")
        },
        ConformanceCheck("A spent retry budget refuses retries, and fetches continue") { subject in
            let peer = try subject.serve { $0.path == "/good" ? .ok("x") : .status(503) }
            let budget = Retry.Budget(ratio: 0, reserve: 3)
            let stack = try subject.stack { $0.interceptors = [HTTPRetryPolicy.maxRetries(2).within(budget)] }
            var reasons: [String] = []
            for _ in 1...3 { reasons.append("\(try await stack.observe(peer.url("/")).onlyOutcome().retryError().0)") }
            try expectEqual(reasons[0], "retries(2)", "why the first fetch ended")
            try expect(
                reasons[1...].allSatisfy { $0.contains("BudgetExhausted") || $0.contains("spent") },
                "\(reasons)"
            )
            try expectEqual(peer.requests().count, 6, "requests on the wire: three fetches and three retries")
            try await stack.text(peer.url("/good"))
        },
        ConformanceCheck("A retry rule receives request, response, body, failure and state") {
            subject in
            let peer = try subject.serve { $0.path == "/1" ? .status(503, "why", headers: [("X-A", "b")]) : .ok("x") }
            let received = EventLog()
            let rule = HTTPRetryPolicy.custom { error, state, metadata in
                let status = (error as? any HTTPError)?.statusCode
                let content = metadata.payload.map { String(decoding: $0, as: UTF8.self) }
                received.add(
                    "\(metadata.request?.headers["X-Asked"] ?? "-") \(metadata.response?.headers["X-A"] ?? "-")"
                )
                received.add("\(content ?? "-") \(status?.rawValue ?? 0) \(state.retryCount)")
                return state.retryCount == 0 ? .retry : .none
            }
            let stack = try subject.stack { $0.interceptors = [rule] }
            _ = try await stack.observe(peer.url("/1"), headers: ["X-Asked": "yes"]).onlyOutcome()
            _ = try await stack.observe(.made { $0(.failure(CancellationError())) }).onlyOutcome()
            let expected = ["yes b", "why 503 0", "yes b", "why 503 1", "- -", "- 0 0", "- -", "- 0 1"]
            try expectEqual(received.all, expected, "what the rule received")
        },
        ConformanceCheck("A long chain of retries keeps only the errors of earlier attempts") { subject in
            let attempts = subject.capabilities.supports(.network) ? 100 : 1000
            let (alive, count, arrived, held) = (Lock(0), Lock(0), Gate(), Latch())
            defer { held.open() }
            let peer = try subject.serve { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                guard number == attempts else { return .status(503, "try again") }
                arrived.open()
                held.wait()
                return .ok("x")
            }
            let url = peer.url("/")
            let making = Network.BaseRequestMaking<HTTP.Request> { handler in
                let counted = Counted(alive)
                let content = HTTP.Body.Stream(length: 1) {
                    withExtendedLifetime(counted) { AsyncStream([Data("x".utf8)]) }
                }
                return handler(Result { try HTTP.Request(method: .PUT, url: url, body: .stream(content)) })
            }
            let policy = HTTPRetryPolicy.maxRetries(attempts)
            let waiting = try subject.stack().observe(.init(baseRequestMaking: making, interceptors: [policy]))
            try await arrived.opened(within: .seconds(30))
            try await eventually("earlier attempts are released") { alive.withLock { $0 } <= 1 }
            held.open()
            try await waiting.onlyOutcome(within: .seconds(30)).value()
            // The observation retains the fetch itself.
            try await eventually("the last attempt is released") { alive.withLock { $0 } == 0 }
            try expectEqual(count.withLock { $0 }, attempts, "requests on the wire")
        },
        ConformanceCheck("The errors of failed attempts are released with the fetch") { subject in
            struct CountedError: Error { let counted: Counted }
            let alive = Lock(0)
            let making = Network.BaseRequestMaking<HTTP.Request> { $0(.failure(CountedError(counted: Counted(alive)))) }
            let policy = HTTPRetryPolicy.maxRetries(3)
            do {  // The observation retains the outcome.
                let fetch = try subject.stack().observe(.init(baseRequestMaking: making, interceptors: [policy]))
                _ = try await fetch.onlyOutcome().retryError()
            }
            try await eventually("the errors are released") { alive.withLock { $0 } == 0 }
        },
        ConformanceCheck("A fetch cancelled in flight uses none of the retry budget") { subject in
            let (arrived, held, count) = (Gate(), Latch(), Lock(0))
            defer { held.open() }
            let peer = try subject.serve { request in
                if request.path == "/held" {
                    arrived.open()
                    held.wait()
                    return .status(503)
                }
                return count.withLock { count in
                    count += 1
                    return count == 1 ? .status(503) : .ok("x")
                }
            }
            let budget = Retry.Budget(ratio: 0, reserve: 1)
            let stack = try subject.stack { $0.interceptors = [HTTPRetryPolicy.maxRetries(1).within(budget)] }
            let waiting = try stack.observe(peer.url("/held"))
            try await arrived.opened()
            waiting.cancel()
            try await waiting.onlyOutcome().expectCancelled()
            held.open()
            try await stack.text(peer.url("/"))
            try expectEqual(count.withLock { $0 }, 2, "requests on the wire: a fetch and its retry")
            let origin = try HTTP.Origin(of: HTTP.Request(url: peer.url("/")).url)
            try expectEqual(budget.balance(of: origin), 0, "the remaining budget")
        },
    ]
}

/// Counts the living objects of its type.
private final class Counted: Sendable {
    private let count: Lock<Int>

    init(_ count: Lock<Int>) {
        self.count = count
        count.withLock { $0 += 1 }
    }

    deinit { count.withLock { $0 -= 1 } }
}
