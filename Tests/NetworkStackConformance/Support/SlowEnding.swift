import Dispatch
import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// Content without an end, whose maker takes a long time to let go of it: until nobody waits for that any more.
final class SlowEnding: Sendable {
    let endless: AsyncStream<Data>
    private let (mayEnd, ended) = (DispatchSemaphore(value: 0), Gate())
    private let heldNobodyUp = Lock(false)

    init() {
        let continuation: AsyncStream<Data>.Continuation
        (endless, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.onTermination = { [mayEnd, ended, heldNobodyUp] _ in
            let isReleased = mayEnd.wait(timeout: .now() + 5) == .success
            heldNobodyUp.withLock { $0 = isReleased }
            ended.open()
        }
        continuation.yield(Data("some".utf8))
    }

    /// Nobody waits any more: the content ends, unless it was waited for.
    func end() async throws {
        mayEnd.signal()
        try await ended.opened()
        try expect(heldNobodyUp.withLock { $0 }, "It was waited for who lets go of the content")
    }
}
