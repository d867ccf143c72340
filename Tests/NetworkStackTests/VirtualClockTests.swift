import NetworkStack
import NetworkStackTesting
import Testing

@Suite("A virtual clock", .timeLimit(.minutes(1)))
struct VirtualClockTests {
    @Test("wakes sleepers when their moment comes, and not before")
    func waking() async throws {
        let clock = VirtualClock()
        let woken = Lock<[Int]>([])
        await withTaskGroup(of: Void.self) { group in
            for seconds in [3, 1, 2] {
                group.addTask {
                    try? await clock.sleep(for: .seconds(seconds))
                    woken.withLock { $0.append(seconds) }
                }
            }
            group.addTask {
                try? await clock.sleepers(3)
                for expected in 1...3 {
                    #expect(clock.advanceToNext() == .seconds(1))
                    while woken.withLock({ $0.count }) < expected { await Task.yield() }
                    #expect(woken.withLock { $0.last } == expected)
                }
            }
        }
        #expect(clock.now == .init(offset: .seconds(3)))
        #expect(clock.advanceToNext() == nil)
        #expect(clock.sleeps.sorted() == [.seconds(1), .seconds(2), .seconds(3)])
    }

    @Test("ends waits for past times at once, and all waits if it keeps up")
    func due() async throws {
        let clock = VirtualClock()
        clock.advance(by: .seconds(5))
        clock.advance(by: .seconds(-5))
        #expect(clock.now == .init(offset: .seconds(5)))
        try await clock.sleep(until: .init(offset: .seconds(5)))
        let eager = VirtualClock(keepsUp: true)
        try await eager.sleep(for: .seconds(100))
        #expect(eager.now == .init(offset: .seconds(100)))
    }

    @Test("throws for a cancelled task, before or during its sleep")
    func cancels() async throws {
        let clock = VirtualClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("reports that no sleeper has arrived")
    func timeout() async throws {
        await #expect(throws: WaitTimedOut.self) { try await VirtualClock().sleepers(1, within: .milliseconds(5)) }
    }
}
