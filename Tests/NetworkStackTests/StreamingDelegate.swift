import Dispatch

@testable import NetworkStack

extension FetchStateTests {
    /// A fetch whose body is streamed.
    final class StreamingDelegate: FetchDelegate {
        let context = EngineContext(
            configuration: .init(),
            obstacleToPinning: nil,
            queue: .global(),
            retryQueue: .global()
        )
        let receiver: StreamReceiver? = StreamReceiver()
        let trace: FetchTrace?
        /// The result of the fetch.
        let endings = Lock<[Ending]>([])
        var options: Shared<HTTP.Options> { context.options }

        let (isIntercepted, resumesTask, interceptsBody) = (false, false, false)

        init(trace: FetchTrace? = nil) { self.trace = trace }

        func makeAtOnce(_ attempt: Attempt) -> Result<HTTP.Request, any Error>? { nil }
        func make(_ attempt: Attempt, _ handler: @escaping MadeRequestHandler) -> any Cancelable { EmptyCancelable() }
        func reportScheduled(_ attempt: Attempt) {}
        func start(_ hop: HTTPHop, for loop: FetchLoop, number: Int) -> any HTTPTransfer { Transfer() }
        func storeResult(of ending: Ending) -> Bool { false }
        func transform(_ handler: @escaping @Sendable (Bool) -> Void) -> any Cancelable { EmptyCancelable() }
        func reportSuccess(_ attempt: Attempt) {}
        func vote(_ attempt: Attempt) -> (Retry.Action, any Error) { (.none, CancellationError()) }
        func abridged(_ error: any Error) -> any Error { error }
        func giveUp(_ error: Retry.Error, _ state: Retry.State) {}
        func streamError(of ending: Ending) -> any Error { CancellationError() }
        func complete(_ ending: Ending, reporting attempt: Attempt?) { endings.withLock { $0.append(ending) } }
    }
}
