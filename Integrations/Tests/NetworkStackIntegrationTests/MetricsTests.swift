import CurlStack
import FoundationEssentials
import MetricsTestKit
import NetworkStack
import NetworkStackMetrics
import NetworkStackTesting
import Testing

@Suite("Metrics of requests and connections")
struct MetricsTests {
    private let metrics = TestMetrics()

    /// How many figures a timer has, by its labels in order of their names.
    private func durations(_ name: String = "http.client.request.duration") -> [String: Int] {
        let timers = metrics.timers(label: name)
        return Dictionary(uniqueKeysWithValues: timers.map { (Self.text(of: $0.dimensions), $0.values.count) })
    }

    private static func text(of dimensions: [(String, String)]) -> String {
        dimensions.sorted { $0.0 < $1.0 }.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
    }

    private static func event(_ fetch: Int, _ url: String, _ method: HTTP.Method = .GET) throws -> FetchEvent {
        FetchEvent(fetch: fetch, hop: 1, request: try HTTP.Request(method: method, url: url))
    }

    @Test("each request is measured, with its status or error")
    func requests() async throws {
        _ = try await SecretFetches([MetricsListener(factory: metrics, servers: 0)]).runAlone()
        #expect(
            durations() == [
                "error.type=503 http.request.method=POST http.response.status_code=503 network.protocol.version=1.1": 3,
                "http.request.method=POST http.response.status_code=307 network.protocol.version=1.1": 1,
                "http.request.method=POST http.response.status_code=200 network.protocol.version=1.1": 1,
                "error.type=transport http.request.method=POST": 2,
            ]
        )
        let sizes = metrics.recorders(label: "http.client.response.body.size").map(\.values)
        #expect(sizes.map(\.count).sorted() == [1, 3] && sizes.flatMap { $0 }.max() == 8)
        let active = try metrics.expectMeter("http.client.active_requests", [("http.request.method", "POST")])
        #expect(active.values.max() == 1 && active.lastValue == 0)
    }

    @Test("a server beyond the limit shares a label, and so do methods that are not registered")
    func cardinality() throws {
        let listener = MetricsListener(factory: metrics, servers: 1)
        for (fetch, host) in ["a.test", "b.test", "c.test", "a.test:8080"].enumerated() {
            let event = try Self.event(fetch, "https://\(host)/\(fetch)", fetch == 0 ? "SPELL" : .GET)
            listener.queued(event)
            listener.fetchCancelled(event, metrics: HTTP.Metrics())
        }
        #expect(
            durations() == [
                "error.type=cancelled http.request.method=_OTHER server.address=a.test server.port=443": 1,
                "error.type=cancelled http.request.method=GET server.address=_OTHER": 3,
            ]
        )
    }

    @Test("a request whose failure an interceptor has replaced counts as an error")
    func replacedFailure() throws {
        let listener = MetricsListener(factory: metrics, servers: 0)
        let event = try Self.event(1, "https://a.test/")
        listener.queued(event)
        listener.fetchSucceeded(event, response: HTTP.Response(status: .ok, url: try #require(event.request).url))
        #expect(durations() == ["error.type=_OTHER http.request.method=GET": 1])
    }

    @Test("connections are counted and measured on libcurl")
    func connections() async throws {
        let ends = Ends()
        let server = try ScriptedServer.responding { _ in .ok("four") }
        var configuration = Network.Configuration()
        configuration.listeners = [MetricsListener(factory: metrics), ends]
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        for _ in 0..<2 { _ = try await stack.data(for: .post(server.url(), body: .bytes(Data("abc".utf8)))) }
        await ends.wait(for: 2)
        let label = "http.client.open_connections"
        let active = try metrics.expectMeter(label, [("http.connection.state", "active")])
        let idle = try metrics.expectMeter(label, [("http.connection.state", "idle")])
        #expect(active.values.max() == 1 && active.lastValue == 0)
        #expect(idle.lastValue == 1)
        #expect(durations("http.client.connection.duration") == ["": 0])
        #expect(metrics.recorders(label: "http.client.request.body.size").flatMap(\.values) == [3, 3])
        let labels = try #require(metrics.timers(label: "http.client.request.duration").first?.dimensions)
        #expect(labels.contains { $0 == ("server.port", "\(server.port)") })

        await stack.shutdown()
        // The close is reported on the listeners' queue.
        let deadline = ContinuousClock.now + .seconds(10)
        while idle.lastValue != 0, .now < deadline { try await Task.sleep(for: .milliseconds(1)) }
        #expect(idle.lastValue == 0)
        #expect(durations("http.client.connection.duration") == ["": 1])
    }

    @Test("after discarded events, meters begin from zero")
    func droppedEvents() throws {
        let listener = MetricsListener(factory: metrics, servers: 0)
        let event = try Self.event(1, "https://a.test/")
        listener.queued(event)
        listener.connectionOpened(HTTP.Connection(), at: .now)
        listener.eventsDropped(3)
        let active = try metrics.expectMeter("http.client.active_requests", [("http.request.method", "GET")])
        #expect(active.values == [1, 0])
        #expect(try metrics.expectCounter("network_stack.events.dropped").totalValue == 3)
        #expect(metrics.meters(label: "http.client.open_connections").allSatisfy { $0.lastValue == 0 })
        listener.fetchSucceeded(event, response: HTTP.Response(status: 200, url: try #require(event.request?.url)))
        #expect(active.values == [1, 0] && durations().isEmpty)
    }

    @Test("no label has a secret")
    func secrets() async throws {
        #expect(try await SecretFetches([MetricsListener(factory: metrics)]).runAlone())
        let labels =
            metrics.timers.map(\.dimensions) + metrics.recorders.map(\.dimensions) + metrics.meters.map(\.dimensions)
            + metrics.counters.map(\.dimensions)
        #expect(labels.count > 8)
        for label in labels { #expect(!"\(label)".contains(SecretFetches.secret), "\(label)") }
    }
}
