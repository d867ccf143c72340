import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("Gauges")
struct GaugesTests {
    @Test("name the busiest origins, and sum the others")
    func bounded() throws {
        var shares: [HTTP.Origin: Network.Gauges.Share] = [:]
        for port in 1...150 {
            let origin = try HTTP.Origin(of: #require(URL(string: "http://localhost:\(port)/")))
            shares[origin, default: .init()].active = port
            shares[origin, default: .init()].idleConnections = 2
        }
        let gauges = Network.Gauges(shares)
        #expect(gauges.origins.count == Network.Gauges.originLimit)
        #expect(gauges.origins.values.map(\.active).min() == 51)
        #expect(gauges.otherOrigins.active == (1...50).reduce(0, +))
        #expect(gauges.otherOrigins.connections == 100)
        #expect(gauges.total.active == (1...150).reduce(0, +))
        #expect(gauges.total.connections == 300)
    }

    @Test("wrap around where a transport reports absurd figures")
    func absurd() {
        let counts = EngineCounts()
        var metrics = HTTP.Metrics()
        (metrics.bytesSent, metrics.bytesReceived) = (.max, .max)
        for _ in 1...2 { counts.add(metrics) }
    }

    @Test("come at intervals until the task is cancelled, from views and erased stacks", .timeLimit(.minutes(1)))
    func sequence() async throws {
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/four", with: .json("4444"))
        let stack = AnyHTTPNetworkStack(mock)
        _ = try await stack.get("http://localhost/four", as: Int.self)
        let seen = Lock<[Int64]>([])
        let reading = Task {
            for await gauges in stack.with(options: { _ in }).streaming.gauges(every: .milliseconds(-5)) {
                seen.withLock { $0.append(gauges.bytesReceived) }
            }
        }
        while seen.withLock({ $0.count }) < 3 { try await Task.sleep(for: .milliseconds(1)) }
        reading.cancel()
        await reading.value
        #expect(seen.withLock { Set($0) } == [4])
    }

    /// In a separate process, which a clock that traps would end.
    @Test("wait for any interval", .timeLimit(.minutes(1)))
    func longInterval() async {
        await #expect(processExitsWith: .success) {
            let mock = try MockNetworkStack()
            let isFirst = Gate()
            let reading = Task {
                for await _ in mock.gauges(every: .seconds(Int64.max)) { isFirst.open() }
            }
            try await isFirst.opened()
            try await Task.sleep(for: .milliseconds(200))
            reading.cancel()
            await reading.value
        }
    }
}
