import Foundation
import Testing

@testable import NetworkStack

@Suite("A one-shot body", .timeLimit(.minutes(1)))
struct ContentClaimsTests {
    @Test("is opened by one of several concurrent callers")
    func claims() throws {
        var counts: Set<Int> = []
        for _ in 0..<1000 {
            let stream = HTTP.Body.Stream(AsyncStream<Data> { $0.finish() })
            let claim = try #require(stream.claims.first)
            let (opened, ended) = (Lock(0), Lock(0))
            for _ in 0..<3 {
                Thread.detachNewThread {
                    if let source = try? stream.open(onReady: {}) {
                        opened.withLock { $0 += 1 }
                        source.close()
                    }
                    ended.withLock { $0 += 1 }
                }
            }
            // Holds the lock again and again: a check and a later claim would allow another thread in between.
            while ended.withLock({ $0 < 3 }) {
                claim.withLock { _ in _ = sched_yield() }
            }
            counts.insert(opened.withLock { $0 })
        }
        #expect(counts == [1])
    }
}
