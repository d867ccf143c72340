import Dispatch
import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("A stub of any stack", .timeLimit(.minutes(1)))
struct StubNetworkStackTests {
    private enum Failure: Error { case cancelled, odd }
    private typealias Stub = StubNetworkStack<Int, Int, Int, String, Failure>

    /// Occupies a task's thread.
    private func block(until group: DispatchGroup) { group.wait() }

    @Test("answers with its closure's value, and records the requests")
    func answers() async throws {
        let stub = Stub(cancelled: .cancelled) { number in
            number.isMultiple(of: 2) ? .success(.init(value: number / 2, response: "half")) : .failure(.odd)
        }
        #expect(try await stub.fetch(resource: 8).value == 4)
        await #expect(throws: Failure.odd) { try await stub.fetch(resource: 7) }
        let decoded = try await stub.fetchAndDecode(resource: 4, decoding: .init { "\($1) \($0)" })
        #expect(decoded.value == "half 2")
        #expect(stub.resources == [8, 7, 4])
    }

    @Test("completes on its queue, as every stack does")
    func callsBackOnQueue() async {
        let stub = Stub(cancelled: .cancelled) { .success(.init(value: $0, response: "there")) }
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "completions")
        queue.setSpecific(key: key, value: true)
        let (fetched, decoded) = (OneShot<Bool>(), OneShot<Bool>())
        stub.fetch(resource: 1, on: queue) { _ in fetched.fill(DispatchQueue.getSpecific(key: key) == true) }
        stub.fetchAndDecode(resource: 1, decoding: .init { "\($1) \($0)" }, on: queue) { _ in
            decoded.fill(DispatchQueue.getSpecific(key: key) == true)
        }
        #expect(await fetched.take() == true)
        #expect(await decoded.take() == true)
    }

    @Test("completes once with its cancelled error, whatever the closure does then")
    func cancels() async throws {
        let stub = Stub(cancelled: .cancelled) { _ in
            try? await Task.sleep(for: .seconds(3600))
            return .success(.init(value: 1, response: "late"))
        }
        let task = Task { try await stub.fetch(resource: 1) }
        while stub.resources.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: Failure.cancelled) { try await task.value }
    }

    @Test("completes with its cancelled error after a cancel, despite the closure's answer")
    func cancelsAnswered() async throws {
        let (goesOn, isThere, mayAnswer) = (OneShot<Void>(), Gate(), DispatchGroup())
        mayAnswer.enter()
        let stub = Stub(cancelled: .cancelled) { number in
            await goesOn.take()
            isThere.open()
            block(until: mayAnswer)
            return .success(.init(value: number, response: "there"))
        }
        let (started, outcome, isCompleted) = (OneShot<any Cancelable>(), OneShot<Bool>(), Gate())
        Task.detached(priority: .background) {
            started.fill(
                stub.fetch(resource: 1) { result in
                    isCompleted.open()
                    if case .failure(.cancelled) = result { outcome.fill(true) } else { outcome.fill(false) }
                }
            )
        }
        let (fetch, waits) = (await started.take(), Gate())
        // Tasks of one priority run in order: by then, the completion waits for the result.
        Task.detached(priority: .background) { waits.open() }
        try await waits.opened()
        goesOn.fill(())
        try await isThere.opened()
        // All other threads of that priority are occupied, and the closure's once it has returned: more tasks wait for one
        // before the completion does.
        let (held, busy) = (DispatchGroup(), Lock(0))
        held.enter()
        let threads = ProcessInfo.processInfo.activeProcessorCount
        for _ in 0..<(threads + 64) {
            Task.detached(priority: .background) {
                busy.withLock { $0 += 1 }
                block(until: held)
            }
        }
        for taken in [threads - 1, threads] {
            if taken == threads { mayAnswer.leave() }
            for _ in 0..<5000 where busy.withLock({ $0 }) < taken { try await Task.sleep(for: .milliseconds(1)) }
            #expect(busy.withLock { $0 } >= taken)
        }
        #expect(!isCompleted.isOpen)
        fetch.cancel()
        held.leave()
        #expect(await outcome.take())
    }
}
