import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("A body that is sent again", .timeLimit(.minutes(1)))
struct AbandonedPumpTests {
    @Test("cancels a running maker when the body is sent again")
    func rewinding() async throws {
        let (begun, ended) = (Lock(0), Gate())
        let stream = HTTP.Body.Stream { () -> AsyncStream<Data> in
            let number = begun.withLock { count in
                count += 1
                return count
            }
            let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
            continuation.onTermination = { _ in if number == 1 { ended.open() } }
            continuation.yield(Data("\(number)".utf8))
            return chunks
        }
        // The continuation is not retained, so each maker stays open as long as its task waits.
        let source = try stream.open {}
        try await Self.waits { if case .bytes = source.next(upTo: 9) { true } else { false } }
        #expect(source.rewind())
        try await ended.opened()
        try await Self.waits { begun.withLock { $0 } == 2 }
        source.close()
    }

    private static func waits(_ condition: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while !condition() {
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
