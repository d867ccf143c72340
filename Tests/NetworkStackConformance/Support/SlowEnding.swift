import Dispatch
import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// An endless body whose producer ends slowly: only when no code waits for it any more.
final class SlowEnding: Sendable {
    let endless: AsyncStream<Data>
    private let (mayEnd, ended) = (DispatchSemaphore(value: 0), Gate())
    private let delayedNothing = Lock(false)

    init() {
        let continuation: AsyncStream<Data>.Continuation
        (endless, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.onTermination = { [mayEnd, ended, delayedNothing] _ in
            let isReleased = mayEnd.wait(timeout: .now() + 5) == .success
            delayedNothing.withLock { $0 = isReleased }
            ended.open()
        }
        continuation.yield(Data("some".utf8))
    }

    /// Ends the body, unless code waits for that.
    func end() async throws {
        mayEnd.signal()
        try await ended.opened()
        try expect(delayedNothing.withLock { $0 }, "The fetch waited for the release of the body")
    }
}
