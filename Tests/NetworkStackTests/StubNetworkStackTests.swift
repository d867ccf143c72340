import Dispatch
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("A stub of any stack", .timeLimit(.minutes(1)))
struct StubNetworkStackTests {
    private enum Failure: Error { case cancelled, odd }
    private typealias Stub = StubNetworkStack<Int, Int, Int, String, Failure>

    @Test("answers what its closure says, and writes down what was asked")
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

    @Test("calls back on the queue it is given, as every stack does")
    func callsBackOnQueue() async {
        let stub = Stub(cancelled: .cancelled) { .success(.init(value: $0, response: "there")) }
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "completions")
        queue.setSpecific(key: key, value: true)
        let (fetched, decoded) = (Handover<Bool>(), Handover<Bool>())
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

    @Test("completes with its cancelled error after a cancel, however soon the closure answers")
    func cancelsAnswered() async {
        let stub = Stub(cancelled: .cancelled) { .success(.init(value: $0, response: "soon")) }
        for number in 1...1000 {
            let (outcome, cancelled) = (Handover<Bool>(), Lock(false))
            let fetch = stub.fetch(resource: number) { result in
                let wasCancelled = cancelled.withLock { $0 }
                if case .success = result { outcome.fill(!wasCancelled) } else { outcome.fill(true) }
            }
            fetch.cancel()
            cancelled.withLock { $0 = true }
            guard await outcome.take() == true else {
                Issue.record("Fetch \(number) succeeded after it was cancelled")
                return
            }
        }
    }
}
