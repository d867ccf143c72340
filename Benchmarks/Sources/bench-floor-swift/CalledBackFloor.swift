import BenchmarkClients
import Dispatch
import Floor
import FoundationEssentials

/// Each fetch calls back, on a queue: one block of it calls all that have ended in a turn.
struct CalledBackFloor: CallbackBenchmarkClient {
    private typealias Completion = @Sendable (Result<Int, any Error>) -> Void

    private final class Waiter: Sendable {
        let completion: Completion

        init(_ completion: @escaping Completion) { self.completion = completion }
    }

    /// What has ended in this turn; the floor's thread alone touches it.
    private nonisolated(unsafe) static var ended: [(waiter: Waiter, content: Result<Data, any Error>)] = []

    init(_ settings: ClientSettings) throws {
        try startFloor { waiter, content, count, isWhole in
            guard let waiter = waiter.map({ Unmanaged<Waiter>.fromOpaque($0).takeRetainedValue() }) else { return }
            CalledBackFloor.ended.append((waiter, take(content, count, isWhole)))
        } turned: {
            let ended = CalledBackFloor.ended
            CalledBackFloor.ended = []
            DispatchQueue.global().async {
                for one in ended { one.waiter.completion(one.content.map(\.count)) }
            }
        }
    }

    func fetch(_ target: BenchmarkTarget, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        floor_fetch(Unmanaged.passRetained(Waiter(completion)).toOpaque())
    }

    func fetch(_ target: BenchmarkTarget) async throws -> Int {
        try await withUnsafeThrowingContinuation { waiter in fetch(target) { waiter.resume(with: $0) } }
    }

    func shutDown() async {}
}
