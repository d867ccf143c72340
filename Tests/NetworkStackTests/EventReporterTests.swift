import Dispatch
import Foundation
import Testing

@testable import NetworkStack

@Suite("Events for listeners")
struct EventReporterTests {
    /// Blocks in its first event, and counts the events.
    private final class SlowListener: EventListener {
        let counts = Lock((events: 0, dropped: 0))
        private let goOn = DispatchSemaphore(value: 0)

        func open() { goOn.signal() }

        func queued(_ event: FetchEvent) {
            if counts.withLock({ counts in
                counts.events += 1
                return counts.events == 1
            }) {
                goOn.wait()
            }
        }

        func eventsDropped(_ count: Int) { counts.withLock { $0.dropped += count } }
    }

    private func until(_ holds: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while !holds(), .now < deadline { try await Task.sleep(for: .milliseconds(2)) }
        #expect(holds())
    }

    @Test("beyond the limit are discarded and counted while a listener is slow")
    func dropped() async throws {
        let listener = SlowListener()
        let reporter = try #require(EventReporter([listener]))
        let place = Shared(FetchEvent.Place(fetch: 1))
        reporter.add(at: place) { $0.queued($1) }
        try await until { listener.counts.withLock { $0.events } == 1 }
        for _ in 0..<(EventReporter.limit + 10) { reporter.add(at: place) { $0.queued($1) } }
        listener.open()
        try await until { listener.counts.withLock { $0.events } == 1 + EventReporter.limit }
        try await until { listener.counts.withLock { $0.dropped } == 10 }
        // The count restarts.
        reporter.add(at: place) { $0.queued($1) }
        try await until { listener.counts.withLock { $0.events } == 2 + EventReporter.limit }
        #expect(listener.counts.withLock { $0.dropped } == 10)
    }

    @Test("have the metrics of a response whose fetch is cancelled before its completion runs")
    func lateCancel() async throws {
        let recorder = FlightRecorder()
        let trace = FetchTrace(try #require(EventReporter([recorder])))
        var response = HTTP.Response(status: .ok, url: try #require(URL(string: "http://host.test/")))
        response.metrics.bytesReceived = 4
        var delegate: (any FetchDelegate)? = FetchStateTests.StreamingDelegate(trace: trace)
        var delivery = Delivery()
        _ = delivery.ended(.whole(response, Data(), method: .GET, fails: false), by: &delegate)
        delivery.cancel()
        _ = delivery.returned()
        delivery.take()?.make()
        trace.failed(HTTPFetchError<HTTP.Response, any Error>.cancelled)
        try await until { recorder.records.count == 1 }
        #expect(recorder.records.first?.end == .cancelled)
        #expect(recorder.records.first?.metrics.bytesReceived == 4)
    }
}
