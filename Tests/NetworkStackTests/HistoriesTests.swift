import Foundation
import Testing

@Suite("Inputs mutated from valid ones")
struct HistoriesTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// The first seed: another seed replays what `make histories` found.
    private static let first = environment["HISTORY_SEED"].flatMap { UInt64($0) } ?? 1

    @Test("break no parser, and are read the same each time")
    func mutated() throws {
        let count = Self.environment["HISTORY_SEED"] == nil ? 100_000 : 1
        let warm = InputHistories(first: Self.first, count: min(count, 1000))
        let counts = try warm.run()
        #expect(count == 1 || counts.values.allSatisfy { $0 > 0 })
        let before = InputHistories.residentPages()
        // The seed of an input that crashes the process is between two that are printed.
        _ = try InputHistories(first: Self.first, count: count) { seed in
            if seed % 10_000 == 0 { FileHandle.standardError.write(Data("inputs of HISTORY_SEED=\(seed)...\n".utf8)) }
        }
        .run()
        #expect(InputHistories.residentPages() - before < 4096, "Memory grew by more than 16 MiB")
    }

    @Test("take time in proportion to their length")
    func linear() throws { try InputHistories.checkLinearity(first: Self.first, perParser: 4, length: 2048) }
}
