import Dispatch
import Foundation
import NetworkStack
import NetworkStackTesting
import Testing

@testable import URLSessionStack

@Suite("A session's delegate queue", .timeLimit(.minutes(1)))
struct EventQueueTests {
    @Test("runs one block at a time, each thread's in order")
    func order() async throws {
        let queue = EventQueue()
        let (seen, inside, done) = (Lock<[[Int]]>(Array(repeating: [], count: 4)), Lock(0), Gate())
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<1000 {
                queue.addOperation {
                    #expect(
                        inside.withLock {
                            $0 += 1
                            return $0
                        } == 1
                    )
                    seen.withLock { $0[thread].append(number) }
                    inside.withLock { $0 -= 1 }
                }
            }
        }
        queue.addOperation { done.open() }
        try await done.opened()
        #expect(seen.withLock { $0 } == Array(repeating: Array(0..<1000), count: 4))
    }

    @Test("continues after it was empty, and never within its caller")
    func again() async throws {
        let queue = EventQueue()
        for _ in 1...100 {
            let (held, done) = (Lock(()), Gate())
            held.withLock { _ in queue.addOperation { held.withLock { _ in done.open() } } }
            try await done.opened()
        }
    }
}
