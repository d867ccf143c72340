import Foundation
import Testing

@Suite("A fetch in random histories")
struct FetchHistoriesTests {
    @Test("completes once, and keeps nothing after that")
    func histories() throws {
        let seed = ProcessInfo.processInfo.environment["HISTORY_SEED"].flatMap { UInt64($0) }
        let count = try FetchHistory.run(first: seed ?? 1, steps: seed == nil ? 10_000 : 1)
        #expect(count > 0)
    }
}
