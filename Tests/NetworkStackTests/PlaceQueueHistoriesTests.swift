import NetworkStackTesting
import Testing

/// A share of what `make histories` runs. Whole fetches (`EngineHistory`) are only there: they take turns with tasks of Swift, and
/// a few of their sentences still depend on when those run.
@Suite("The places of hosts in random histories", .timeLimit(.minutes(2)))
struct PlaceQueueHistoriesTests {
    @Test("leaks no place, and lets no hop wait while there is room")
    func places() throws { #expect(try PlaceQueueHistory.runShare(steps: 10_000) > 0) }
}
