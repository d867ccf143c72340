import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStackConformance

@Suite("The servers of a pair")
struct PairServersTests {
    /// The threads of this process.
    private var threads: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0 }

    @Test("end with the pair, and so do their threads")
    func areReleased() async throws {
        let before = threads
        for _ in 0..<20 { _ = try await PairServers(Pair(name: "nothing"), .sameConnection, Lie.all[0].subject) }
        // Each has two servers, with a thread that accepts.
        try await eventually("the threads of 40 servers have ended") { threads < before + 20 }
    }
}
