import BenchmarkClients
import Floor
import FoundationEssentials
import Synchronization

/// Each fetch is awaited. Of those that end in a turn, the floor's thread resumes one, and that one the others, which wakes
/// fewer threads.
struct AwaitedFloor: BenchmarkClient {
    private typealias Continuation = UnsafeContinuation<Data, any Error>
    private typealias Ended = (waiter: Continuation, content: Result<Data, any Error>)

    /// What has ended in this turn; the floor's thread alone touches it.
    private nonisolated(unsafe) static var ended: [Ended] = []
    private static let others = Mutex<[Ended]>([])

    init(_ settings: ClientSettings) throws {
        try startFloor { waiter, content, count, isWhole in
            let waiter = unsafeBitCast(waiter, to: Continuation.self)
            AwaitedFloor.ended.append((waiter, take(content, count, isWhole)))
        } turned: {
            let first = AwaitedFloor.ended.removeLast()
            if !AwaitedFloor.ended.isEmpty {
                AwaitedFloor.others.withLock { $0.append(contentsOf: AwaitedFloor.ended) }
                AwaitedFloor.ended.removeAll(keepingCapacity: true)
            }
            first.waiter.resume(with: first.content)
        }
    }

    func fetch(_ target: BenchmarkTarget) async throws -> Int {
        let result: Result<Data, any Error>
        do {
            result = .success(
                try await withUnsafeThrowingContinuation { (waiter: Continuation) in
                    floor_fetch(unsafeBitCast(waiter, to: UnsafeMutableRawPointer.self))
                }
            )
        } catch { result = .failure(error) }
        let others = Self.others.withLock { others in
            defer { if !others.isEmpty { others = [] } }
            return others
        }
        for other in others { other.waiter.resume(with: other.content) }
        return try result.get().count
    }

    func shutDown() async {}
}
