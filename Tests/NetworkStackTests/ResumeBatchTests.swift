import Dispatch
import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("ResumeBatch", .timeLimit(.minutes(1)))
struct ResumeBatchTests {
    /// Runs a closure with a batch on this thread, which is removed afterwards.
    private func withBatch(_ body: (ResumeBatch) -> Void) {
        let batch = ResumeBatch()
        batch.begin()
        body(batch)
        batch.end()
    }

    private func isAwaited(_ oneShot: OneShot<Void>) -> Bool {
        oneShot.stage.withLock { stage in
            switch stage {
            case .waiting(_): true
            default: false
            }
        }
    }

    /// Blocks the thread.
    private func block(until group: DispatchGroup) { group.wait() }

    @Test("makes its calls at its end", arguments: 1...3)
    func end(count: Int) async throws {
        let (queue, gates) = (DispatchQueue(label: "queue"), (0..<count).map { _ in Gate() })
        withBatch { batch in for gate in gates { batch.run(on: queue) { gate.open() } } }
        for gate in gates { try await gate.opened(within: .seconds(10)) }
    }

    @Test("resumes the waiting tasks at its end", arguments: 1...3)
    func waits(count: Int) async throws {
        let waits = (0..<count).map { _ in (oneShot: OneShot<Void>(), resumed: Gate()) }
        for wait in waits {
            Task {
                await wait.oneShot.take()
                wait.resumed.open()
            }
        }
        for wait in waits { while !isAwaited(wait.oneShot) { try await Task.sleep(for: .milliseconds(1)) } }
        withBatch { batch in for wait in waits { wait.oneShot.fill((), in: batch) } }
        for wait in waits { try await wait.resumed.opened(within: .seconds(10)) }
    }

    @Test("makes its calls in order on a queue that has one thread")
    func order() async throws {
        let (queue, made, last) = (DispatchQueue(label: "queue"), Lock<[Int]>([]), Gate())
        withBatch { batch in
            for number in 0..<8 { batch.run(on: queue) { made.withLock { $0.append(number) } } }
            batch.run(on: queue) { last.open() }
        }
        try await last.opened(within: .seconds(10))
        #expect(made.withLock { $0 } == Array(0..<8))
    }

    @Test("delays no call behind a slow one")
    func long() async throws {
        let queue = DispatchQueue(label: "queue", attributes: .concurrent)
        let (held, others) = (DispatchGroup(), [Gate(), Gate()])
        held.enter()
        withBatch { batch in
            batch.run(on: queue) { block(until: held) }
            for gate in others { batch.run(on: queue) { gate.open() } }
        }
        for gate in others { await #expect(throws: Never.self) { try await gate.opened(within: .seconds(10)) } }
        held.leave()
    }

    @Test("delays no call behind another's queue")
    func queues() async throws {
        let (stuck, free, first, second) = (DispatchQueue(label: "stuck"), DispatchQueue(label: "free"), Gate(), Gate())
        stuck.suspend()
        withBatch { batch in
            batch.run(on: stuck) { first.open() }
            batch.run(on: free) { second.open() }
        }
        await #expect(throws: Never.self) { try await second.opened(within: .seconds(10)) }
        stuck.resume()
        try await first.opened(within: .seconds(10))
    }

    @Test("delays no call behind the threads of tasks")
    func threads() async throws {
        let (oneShot, called, resumed) = (OneShot<Void>(), Gate(), Gate())
        Task(priority: .background) {
            await oneShot.take()
            resumed.open()
        }
        while !isAwaited(oneShot) { try await Task.sleep(for: .milliseconds(1)) }
        // All threads of that priority are occupied.
        let (held, busy) = (DispatchGroup(), Lock(0))
        held.enter()
        for _ in 0..<64 {
            Task.detached(priority: .background) {
                busy.withLock { $0 += 1 }
                block(until: held)
            }
        }
        for _ in 0..<2000 where busy.withLock({ $0 }) < ProcessInfo.processInfo.activeProcessorCount {
            try await Task.sleep(for: .milliseconds(1))
        }
        withBatch { batch in
            batch.run(on: DispatchQueue(label: "free")) { called.open() }
            oneShot.fill((), in: batch)
        }
        await #expect(throws: Never.self) { try await called.opened(within: .seconds(10)) }
        held.leave()
        try await resumed.opened(within: .seconds(10))
    }

    @Test("makes calls at once that other threads add, or that are added after its end", arguments: [true, false])
    func others(hasEnded: Bool) async throws {
        let (batch, oneShot, called, resumed) = (ResumeBatch(), OneShot<Void>(), Gate(), Gate())
        Task {
            await oneShot.take()
            resumed.open()
        }
        while !isAwaited(oneShot) { try await Task.sleep(for: .milliseconds(1)) }
        let add = { @Sendable in
            batch.run(on: .global()) { called.open() }
            oneShot.fill((), in: batch)
        }
        Thread {
            batch.begin()
            if hasEnded { batch.end() }
            if hasEnded { add() } else { Thread(block: add).start() }
        }
        .start()
        try await called.opened(within: .seconds(10))
        try await resumed.opened(within: .seconds(10))
    }
}
