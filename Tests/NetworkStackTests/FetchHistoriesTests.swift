import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("A fetch in random histories")
struct FetchHistoriesTests {
    @Test("completes once, and keeps nothing after that")
    func histories() throws {
        #expect(try FetchHistory.runShare(steps: 10_000) > 0)
    }

    @Test("a cancel during scheduling wins over a timeout that comes right after")
    func cancelDuringScheduling() throws {
        let delegate = FetchHistoryDelegate(
            streams: false,
            isIntercepted: true,
            resumesTask: false,
            interceptsAttempts: false
        )
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        var state = FetchState(options: delegate.options, delegate: delegate, now: now)
        _ = state.beginAttempt(1, now: now)
        let hop = state.begin(FetchHistory.request, fragment: nil, source: nil, of: 1)?.number ?? 0
        _ = state.beginScheduling(hop: hop)
        let isEnded = state.end(.cancelled, isIntercepted: true) != nil
        #expect(!isEnded, "the interceptors are still being called")
        guard case .settle(.cancelled, .fetch) = state.endScheduling() else { throw CancellationError() }
        _ = state.end(.failed(.timedOut(.total, during: .queued)), isIntercepted: true)
        delegate.hasReturned = true
        _ = state.delivery.returned()
        state.delivery.take()?.make()
        #expect(delegate.endings.map(\.isCancelled) == [true])
    }
}
