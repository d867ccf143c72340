import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("A flight recorder")
struct FlightRecorderTests {
    /// A mock with a recorder, and a wait for records.
    private func recorded(_ recorder: FlightRecorder, _ change: (inout Network.Configuration) -> Void = { _ in }) throws
        -> MockNetworkStack
    {
        var configuration = Network.Configuration()
        configuration.listeners = [recorder]
        change(&configuration)
        let mock = try MockNetworkStack(configuration: configuration)
        mock.answer(.GET, "/a", with: .json(#"{"secret": "s3cret-body"}"#))
        mock.answer(.GET, "/gone", with: .status(503, headers: [.setCookie: "k=s3cret-cookie"]))
        mock.answer(.GET, "/start", with: .status(302, headers: [.location: "/a?k=s3cret-location"]))
        return mock
    }

    private func waitFor(_ count: Int, _ recorder: FlightRecorder) async throws -> [FetchRecord] {
        try await until { recorder.records.count == count }
        return recorder.records
    }

    private func until(_ holds: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while !holds(), .now < deadline { try await Task.sleep(for: .milliseconds(2)) }
        #expect(holds())
    }

    @Test("keeps the last fetches, up to its limit")
    func bounds() async throws {
        for recorder in [FlightRecorder(fetches: 3), FlightRecorder(fetches: 100, bytes: 7000)] {
            let mock = try recorded(recorder)
            for index in 0..<10 { _ = try await mock.data(for: .get("http://host.test/a?\(index)")) }
            let records = try await waitFor(3, recorder)
            #expect(records.map(\.fetch) == records.map(\.fetch).sorted())
            #expect(records.allSatisfy { $0.url == "http://host.test/a?…" && $0.status == .ok && $0.end == .succeeded })
            recorder.clear()
            #expect(recorder.records.isEmpty)
        }
    }

    @Test("counts the URLs of redirects, and the request's fields, against its limit")
    func longTexts() throws {
        let text = String(repeating: "a", count: 60_000)
        func kept(_ url: String, _ headers: HTTP.Headers = [:], redirects: Int = 0) throws -> Int {
            let recorder = FlightRecorder(bytes: 200_000)
            let request = try HTTP.Request(url: url, headers: headers)
            for index in 0..<10 {
                var response = HTTP.Response(status: 200, url: request.url)
                response.metrics.hops = (0..<redirects).map { _ in .init(attempt: 1, url: url) }
                recorder.fetchSucceeded(FetchEvent(fetch: index, request: request), response: response)
            }
            return recorder.records.count
        }
        #expect(try kept("http://host.test/") == 10)
        #expect(try kept("http://host.test/\(text)") == 1)
        #expect(try kept("http://host.test/", ["X-Long": text]) == 3)
        #expect(try kept("http://host.test/\(text)", redirects: 20) == 1)
    }

    @Test("keeps failures, cancels, redirects and attempts")
    func ends() async throws {
        let recorder = FlightRecorder()
        let mock = try recorded(recorder) { $0.interceptors = [HTTPRetryPolicy.maxRetries(1)] }
        _ = try await mock.data(for: .get("http://host.test/start"))
        _ = try? await mock.get("http://host.test/gone", as: String.self)
        mock.answer(.GET, "/held", with: .silence)
        let held = Task { try await mock.data(for: .get("http://host.test/held")) }
        try await until { mock.requests.contains { $0.url.path == "/held" } }
        held.cancel()
        let records = try await waitFor(3, recorder)
        #expect(records.map(\.attempts) == [1, 2, 1])
        #expect(records.map { $0.metrics.hops.count } == [1, 1, 0])
        #expect(records[1].end != .succeeded)
        #expect(records[1].metrics.hops.first?.failure == "status 503")
        #expect(records[2].end == .cancelled)
        #expect(records[0].explain().contains("earlier, attempt 1: GET http://host.test/start, 302"))
    }

    @Test("writes HAR 1.2 without secrets")
    func har() async throws {
        let recorder = FlightRecorder(redaction: .init(headers: ["X-Key"]))
        let mock = try recorded(recorder) {
            $0.interceptors = [HTTPRetryPolicy.maxRetries(1)]
            $0.sensitiveHeaders = ["X-Configured"]
            $0.options.addSensitiveHeaders("X-Optional")
        }
        let secrets: HTTP.Headers = [
            "X-Configured": "s3cret", "X-Optional": "s3cret",
            .authorization: "Bearer s3cret-token", .cookie: "s=s3cret", .proxyAuthorization: "Basic s3cret",
            "X-Key": "s3cret-key", .referer: "http://user:s3cret@host.test/?s3cret",
        ]
        for path in ["/a?token=s3cret-query#s3cret", "/start", "/gone"] {
            var request = try HTTP.Request(method: .GET, url: "http://s3cret:s3cret@host.test\(path)", headers: secrets)
            request.body = .bytes(Data("s3cret".utf8))
            _ = try? await mock.data(for: request)
        }
        let records = try await waitFor(3, recorder)
        let har = try recorder.har()
        let text = String(decoding: har, as: UTF8.self) + records.map { $0.explain() + $0.description }.joined()
        #expect(!text.contains("s3cret"), "\(text)")
        let log = try #require(
            (try JSONSerialization.jsonObject(with: har) as? [String: Any])?["log"] as? [String: Any]
        )
        #expect(log["version"] as? String == "1.2")
        let entries = try #require(log["entries"] as? [[String: Any]])
        let seen = entries.map { ($0["response"] as? [String: Any])?["status"] as? Int }
        #expect(seen == [200, 302, 200, 503])
        // The version of an earlier request is not kept.
        let versions = entries.map { ($0["response"] as? [String: Any])?["httpVersion"] as? String }
        #expect(versions[1] == "unknown" && versions[2] != "unknown")
        // A failure with a status has a response.
        #expect(entries.allSatisfy { ($0["response"] as? [String: Any])?["_error"] == nil })
        for entry in entries {
            let timings = try #require(entry["timings"] as? [String: Double])
            let sum = timings.filter { $0.key != "ssl" }.values.reduce(0) { $0 + max($1, 0) }
            let time = try #require(entry["time"] as? Double)
            #expect(abs(sum - time) < 0.001 && time >= 0)
        }
    }

    /// The entries of a HAR document: method, path, status, and the seconds since the first.
    private func entries(of recorder: FlightRecorder) throws -> [(request: String, after: Double)] {
        let log = try JSONSerialization.jsonObject(with: try recorder.har()) as? [String: [String: Any]]
        let entries = try #require(log?["log"]?["entries"] as? [[String: Any]])
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let starts = try entries.map { try style.parse(try #require($0["startedDateTime"] as? String)) }
        return try zip(entries, starts).map { entry, start in
            let request = try #require(entry["request"] as? [String: Any])
            let status = (entry["response"] as? [String: Any])?["status"] as? Int
            let path = (request["url"] as? String)?.replacing("http://host.test", with: "")
            return (
                "\(request["method"] ?? "") \(path ?? "") \(status ?? -1)",
                start.timeIntervalSince(try #require(starts.first))
            )
        }
    }

    @Test("names the method of each earlier request, and when it began")
    func earlierRequests() async throws {
        let recorder = FlightRecorder()
        let mock = try recorded(recorder) {
            $0.interceptors = [HTTPRetryPolicy.backoff(.constant(delay: 0.3, until: .maxRetries(1)))]
        }
        let moved = MockReply.status(303, headers: [.location: "/a"])
        mock.answer(.POST, "/submit", inTurn: .status(503), moved)
        let request = try HTTP.Request(
            method: .POST,
            url: "http://host.test/submit",
            body: .bytes(Data("1".utf8))
        )
        _ = try await mock.fetch(resource: MockNetworkStack.Resource(baseRequestMaking: .request(request)))
        let record = try #require(try await waitFor(1, recorder).first)
        #expect(record.explain().contains("earlier, attempt 1: POST http://host.test/submit, 503"))
        let seen = try entries(of: recorder)
        try #require(seen.map(\.request) == ["POST /submit 503", "POST /submit 303", "GET /a 200"])
        #expect(seen[1].after >= 0.299 && seen[2].after >= seen[1].after)
    }

    @Test("has no entry in HAR for an attempt whose request was not made")
    func unmadeRequests() async throws {
        struct Unmade: Error {}
        for failing in [1, 2] {
            let recorder = FlightRecorder()
            let mock = try recorded(recorder)
            let calls = Lock(0)
            let resource = MockNetworkStack.Resource(
                baseRequestMaking: .task {
                    let call = calls.withLock { calls in
                        calls += 1
                        return calls
                    }
                    if call == failing { throw Unmade() }
                    return try HTTP.Request(url: "http://host.test/gone")
                },
                interceptors: [HTTPRetryPolicy.maxRetries(1)]
            )
            _ = try? await mock.fetch(resource: resource)
            let record = try #require(try await waitFor(1, recorder).first)
            #expect(record.metrics.hops.map(\.url) == [failing == 1 ? nil : "http://host.test/gone"])
            #expect(try entries(of: recorder).map(\.request) == ["GET /gone 503"])
        }
    }

    @Test("counts the attempts whose requests were not made, and has no entry in HAR for the last")
    func unmadeLastRequests() async throws {
        struct Unmade: Error {}
        let (recorder, calls) = (FlightRecorder(), Lock(0))
        let mock = try recorded(recorder)
        let resource = MockNetworkStack.Resource(
            baseRequestMaking: .task {
                let isFirst = calls.withLock { calls in
                    calls += 1
                    return calls == 1
                }
                guard isFirst else { throw Unmade() }
                return try HTTP.Request(url: "http://host.test/gone")
            },
            interceptors: [HTTPRetryPolicy.maxRetries(2)]
        )
        _ = try? await mock.fetch(resource: resource)
        let record = try #require(try await waitFor(1, recorder).first)
        #expect(record.attempts == 3)
        #expect(record.metrics.hops.map(\.attempt) == [1, 2])
        #expect(try entries(of: recorder).map(\.request) == ["GET /gone 503"])
    }

    @Test("dates a fetch when it ends, by its start")
    func dates() throws {
        let recorder = FlightRecorder()
        recorder.fetchCancelled(FetchEvent(fetch: 1, time: .now - .seconds(100)), metrics: HTTP.Metrics())
        let date = try #require(recorder.records.first).startedAt
        #expect((-160 ... -99.9).contains(date.timeIntervalSinceNow))
        // Read again later, it is the same.
        for _ in 0..<100 { #expect(recorder.records.first?.startedAt == date) }
    }

    @Test("writes the reason of a failure that has a response into HAR")
    func failureAfterHead() async throws {
        let recorder = FlightRecorder()
        let mock = try recorded(recorder)
        _ = try? await mock.data(for: .get("http://host.test/a"), options: { $0.limits.body = 1 })
        let record = try await waitFor(1, recorder)[0]
        #expect(record.failureCase == "bodyTooLarge")
        let har = String(decoding: try recorder.har(), as: UTF8.self)
        #expect(har.contains("\"_error\""), "\(har)")
    }

    @Test("names the slow step")
    func slowSteps() throws {
        var metrics = HTTP.Metrics()
        (metrics.queue, metrics.resolved, metrics.connected) = (.milliseconds(1), .milliseconds(2), .milliseconds(5))
        (metrics.requestSent, metrics.firstByte) = (.milliseconds(6), .milliseconds(9))
        metrics.ended = .milliseconds(10)
        typealias Step = HTTP.Metrics.Step
        let slow: [(Step, (inout HTTP.Metrics) -> Void)] = [
            (.queue, { $0.queue = .seconds(1) }),
            (
                .nameLookup,
                {
                    ($0.resolved, $0.connected, $0.requestSent) = (.seconds(1), .seconds(1), .seconds(1))
                    ($0.firstByte, $0.ended) = (.seconds(1), .seconds(1))
                }
            ),
            (
                .connecting,
                {
                    ($0.connected, $0.requestSent, $0.firstByte, $0.ended) = (
                        .seconds(1), .seconds(1), .seconds(1), .seconds(1)
                    )
                }
            ),
            (.server, { ($0.firstByte, $0.ended) = (.seconds(1), .seconds(1)) }),
            (.receiving, { $0.ended = .seconds(1) }),
        ]
        for (step, change) in slow {
            var changed = metrics
            change(&changed)
            #expect(changed.slowestStep?.step == step)
        }
        (metrics.connected, metrics.requestSent, metrics.firstByte) = (nil, nil, nil)
        (metrics.ended, metrics.endedIn) = (.seconds(3), .connecting)
        #expect(metrics.slowestStep?.step == .connecting)
        #expect(metrics.slowestStep?.duration == .seconds(3) - .milliseconds(2))
    }
}
