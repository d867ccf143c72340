import Dispatch
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("ResumeBatch")
struct ResumeBatchTests {
    /// Runs with a batch on this thread, which has none afterwards.
    private func withBatch(_ body: () -> Void) {
        let batch = ResumeBatch()
        batch.begin()
        body()
        batch.end()
        #expect(ResumeBatch.current == nil)
    }

    @Test("calls at its end what waits", arguments: 1...3)
    func end(count: Int) async throws {
        let (queue, gates) = (DispatchQueue(label: "queue"), (0..<count).map { _ in Gate() })
        withBatch { for gate in gates { ResumeBatch.call(on: queue) { gate.open() } } }
        for gate in gates { try await gate.opened(within: .seconds(10)) }
    }

    @Test("has no call wait for another's queue")
    func queues() async throws {
        let (stuck, free, first, second) = (DispatchQueue(label: "stuck"), DispatchQueue(label: "free"), Gate(), Gate())
        stuck.suspend()
        withBatch {
            ResumeBatch.call(on: stuck) { first.open() }
            ResumeBatch.call(on: free) { second.open() }
        }
        await #expect(throws: Never.self) { try await second.opened(within: .seconds(10)) }
        stuck.resume()
        try await first.opened(within: .seconds(10))
    }
}
