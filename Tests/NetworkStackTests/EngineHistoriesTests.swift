import Dispatch
import NetworkStackTesting
import Testing

/// A share of what `make histories` runs.
@Suite("An engine in random histories", .timeLimit(.minutes(2)))
struct EngineHistoriesTests {
    @Test("ends every fetch once, with an outcome that its events allow")
    func fetches() async throws {
        // A history waits for tasks, so it must not block their threads.
        let count = try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try EngineHistory.runShare(steps: 500) })
            }
        }
        #expect(count > 0)
    }

    @Test("leaks no place, and lets no hop wait while there is room")
    func places() throws { #expect(try PlaceQueueHistory.runShare(steps: 10_000) > 0) }
}
