import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("A closed body", .timeLimit(.minutes(1)))
struct ClosedBodyTests {
    @Test("makes no trailers once it is closed", arguments: [10, 300 * 1024])
    func trailersAfterClose(count: Int) async throws {
        let (made, ready, ended) = (Lock(0), Gate(), Gate())
        // Cancelled, it just ends. The long chunk leaves no room, so that the source waits before the sequence does.
        let (chunks, continuation) = AsyncStream<Data>.makeStream()
        continuation.onTermination = { _ in ended.open() }
        continuation.yield(Data(count: count))
        if count > 10 { continuation.finish() }
        var stream = HTTP.Body.Stream(chunks)
        stream.trailers = .init(["X-Sum"]) {
            made.withLock { $0 += 1 }
            return ["X-Sum": "1"]
        }
        let source = try #require(try HTTP.Body.stream(stream).open { ready.open() })
        if case .pending = source.next(upTo: 1) { try await ready.opened() }
        source.close()
        try await ended.opened()
        try await Task.sleep(for: .milliseconds(100))
        #expect(made.withLock { $0 } == 0)
    }
}
