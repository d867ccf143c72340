import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The interceptors of the library, over a network.
    static let interceptorsAtWork: [ConformanceCheck] = [
        ConformanceCheck("Injected fields are sent and replace the request's only if allowed") { subject in
            let peer = try subject.serve { request in
                .ok(["A", "B", "C"].map { request.values(of: $0).joined(separator: "+") }.joined(separator: ","))
            }
            func text(_ injector: HeaderInjector) async throws -> String {
                let stack = try subject.stack { $0.interceptors = [injector] }
                return try await stack.observe(peer.url("/"), headers: ["a": "own", "B": "own"]).onlyOutcome().text()
            }
            try expectEqual(try await text(.init(["A": "new", "C": "new"])), "own,own,new", "kept")
            try expectEqual(try await text(.init(["A": "new"], overrides: true)), "new,own,", "overridden")
            try expectEqual(try await text(.init { ["C": "\($0.method)"] }), "own,own,GET", "made for the request")
        },
        ConformanceCheck("Network activity shows while tasks run, however they end") { subject in
            let (activity, arrived, held) = (NetworkActivity(), Gate(), Latch())
            defer { held.open() }
            let peer = try subject.serve {
                switch $0.path {
                case "/good": return .ok("x")
                case "/moved": return .redirect(to: "/good")
                case "/held":
                    arrived.open()
                    held.wait()
                    return .ok("x")
                default: return .status(500)
                }
            }
            let stack = try subject.stack { $0.interceptors = [activity] }
            let states = Lock<[NetworkActivity.State]>([])
            activity.observe { state in states.withLock { $0.append(state) } }
            for path in ["/good", "/moved", "/bad"] { _ = try await stack.observe(peer.url(path)).onlyOutcome() }
            _ = try await stack.observe(.made { $0(.failure(CancellationError())) }).onlyOutcome()
            _ = try await stack.observe(peer.url("/"), headers: ["X": "a\r\nb"]).onlyOutcome()
            try await eventually("the activity has ended") { activity.state == .hide }
            let waiting = try stack.observe(peer.url("/held"))
            try await arrived.opened()
            try expectEqual(activity.state, .show, "the activity while a task runs")
            waiting.cancel()
            _ = try await waiting.onlyOutcome()
            try await eventually("the activity has ended") { activity.state == .hide }
            // Before the server is released, which waits for its handlers.
            held.open()
            try expectEqual(peer.requests().count, 5, "requests on the wire")
            // Observers are called after the state has changed.
            try await eventually("the observer received the end") { states.withLock { $0.last == .hide } }
            let seen = states.withLock { $0 }
            for (index, state) in seen.enumerated() {
                try expectEqual(state, index.isMultiple(of: 2) ? .show : .hide, "state \(index) of \(seen)")
            }
        },
        ConformanceCheck("A refused request ends no other request's network activity") { subject in
            let (activity, events, arrived, held) = (NetworkActivity(), EventLog(), Gate(), Latch())
            defer { held.open() }
            let listener = AttemptListener { event, _ in
                switch event {
                case .notMade(_, let state): events.add("not made \(state.attemptCount)")
                case .started: events.add("started")
                case .succeeded: events.add("succeeded")
                case .failed: events.add("failed")
                }
            }
            let peer = try subject.serve { _ in
                arrived.open()
                held.wait()
                return .ok("x")
            }
            let stack = try subject.stack { $0.interceptors = [activity, listener] }
            let waiting = try stack.observe(peer.url("/held"))
            try await arrived.opened()
            _ = try await stack.observe(peer.url("/"), headers: ["X": "a\r\nb"]).onlyOutcome()
            _ = try await stack.observe(peer.url("/"), method: .PUT, body: .file(path: "/nonexistent/file"))
                .onlyOutcome()
            _ = try await stack.observe(peer.url("/"), options: .clocks(idle: .zero)).onlyOutcome()
            try expectEqual(activity.state, .show, "the activity while a task runs")
            held.open()
            try await waiting.onlyOutcome().value()
            try await eventually("the activity has ended") { activity.state == .hide }
            try expectEqual(
                events.all,
                ["started", "not made 1", "not made 1", "not made 1", "succeeded"],
                "the events of the listener"
            )
        },
        ConformanceCheck("A listener receives each attempt, its metrics and its end") { subject in
            let events = EventLog()
            let listener = AttemptListener { event, _ in
                switch event {
                case .notMade(_, let state): events.add("not made \(state.attemptCount)")
                case .started(let attempt): events.add("started \(attempt.retryState.attemptCount)")
                case .succeeded(_, let response, let count):
                    events.add("succeeded \(response.status) \(count) \(response.metrics.total > .zero)")
                case .failed(let attempt, let error, let response):
                    let status = (error as? any HTTPError)?.statusCode
                    events.add("failed \(attempt.retryState.attemptCount) \(status == response?.status)")
                }
            }
            let count = Lock(0)
            let peer = try subject.serve { _ in
                count.withLock { $0 += 1 }
                return count.withLock { $0 } == 1 ? .status(503) : .ok("four")
            }
            let stack = try subject.stack { $0.interceptors = [listener, HTTPRetryPolicy.maxRetries(1)] }
            try await stack.text(peer.url("/"))
            _ = try await stack.observe(.made { $0(.failure(CancellationError())) }).onlyOutcome()
            try expectEqual(
                events.all,
                [
                    "started 1", "failed 1 true", "started 2", "succeeded 200 4 true", "not made 1", "not made 2",
                ],
                "the events"
            )
        },
        ConformanceCheck("The log records a fetch and none of its secrets") { subject in
            let lines = EventLog()
            let peer = try subject.serve { _ in .ok("x", headers: [("Set-Cookie", "hunter2")]) }
            let log = LoggingInterceptor(level: .body) { lines.add("\($0)") }
            let stack = try subject.stack { $0.interceptors = [log] }
            let url = peer.url("/p?k=hunter2")
            try await stack.observe(url, headers: [.authorization: "Bearer hunter2"]).onlyOutcome().value()
            let text = lines.all.joined(separator: "\n")
            try expect(text.contains("--> GET") && text.contains("<-- 200") && text.contains("Authorization"), text)
            try expect(!text.contains("hunter2"), "The log shows a secret: \(text)")
        },
        ConformanceCheck("The number of listeners does not change a fetch's result") { subject in
            let peer = try subject.serve { .ok($0.path, headers: [("X-A", "1")]) }
            let quiet = try subject.stack()
            let watched = try subject.stack {
                $0.interceptors = [NetworkActivity(), AttemptListener { _, _ in }, LoggingInterceptor { _ in }]
            }
            let first = try await quiet.observe(peer.url("/a")).onlyOutcome().value()
            let second = try await watched.observe(peer.url("/a")).onlyOutcome().value()
            try expectEqual(first.value, second.value, "the body")
            try expectEqual(first.response.headers, second.response.headers, "the fields")
        },
    ]
}
