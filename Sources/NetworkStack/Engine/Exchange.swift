internal import Dispatch
internal import FoundationEssentials

/// One fetch from call to completion, in neutral types: makes the request, carries the hops, keeps the deadlines, has failures
/// voted on, ends exactly once.
///
/// ``FetchState`` decides what happens, under the lock. ``run(_:)`` does it after the lock is released.
@usableFromInline
final class Exchange: Cancelable {
    let state: Lock<FetchState>
    let isIntercepted: Bool
    /// Where the callbacks of its options are called: in order, and before the completion.
    private let ownQueue: DispatchQueue?
    let receiver: StreamReceiver?
    let options: Shared<HTTP.Options>
    let context: ExchangeContext

    init(_ delegate: any ExchangeDelegate, in context: ExchangeContext) {
        options = delegate.options
        state = Lock(FetchState(options: delegate.options, delegate: delegate, now: .now))
        isIntercepted = delegate.isIntercepted
        receiver = delegate.receiver
        self.context = context
        ownQueue = options.value.isHeard ? DispatchQueue(label: "exchange", target: context.queue) : nil
    }

    var queue: DispatchQueue { ownQueue ?? context.queue }

    var memory: StateManagement { context.memory }

    /// Serves the exchange until its end.
    var delegate: (any ExchangeDelegate)? { state.withLock { $0.delegate } }

    /// Does what an event of the transfer leads to.
    func act(on event: (inout FetchState) -> FetchState.Step) { run(state.withLock(event)) }

    // MARK: Ending

    @usableFromInline
    func cancel() { run(.settle(.cancelled)) }

    /// The fetch ends with this, unless another attempt than the one it is the end of has begun.
    func end(_ ending: consuming Ending, of attempt: Int? = nil) {
        let ending = withContext(ending)
        guard let ended = state.withLock({ $0.end(ending, of: attempt, isIntercepted: isIntercepted) }) else { return }
        // The stream may have been delivered meanwhile: its reader fails with this.
        if let delegate = ended.streaming { receiver?.fail(delegate.streamError(of: ending)) }
        release(ended.held, after: ending)
        deliver(ended.moment, onQueue: ending.isStored)
    }

    /// An ending; a failure with its context.
    func withContext(_ ending: consuming Ending) -> Ending {
        guard case .failed(let failure, nil) = ending else { return ending }
        return .failed(failure, state.withLock { $0.context(now: .now) })
    }

    func release(_ held: FetchState.HeldResources, after ending: Ending) {
        if let ticket = held.ticket { context.wheel.remove(ticket) }
        if let pending = held.stage.pending {
            // Cancelling it may run user code: where the user cancels, in place; on other threads, on the queue.
            if ending.isCancelled { pending.cancel() } else { queue.async { pending.cancel() } }
        }
        guard let hop = held.stage.hop else { return }
        hop.transfer?.cancel()
        hop.source?.close()
    }

    /// `fetch` is about to return; from now on the completion may be called.
    func returnsToCaller() { deliver(state.withLock { $0.delivery.returned() }) }

    /// Calls the completion, if its moment has come. A stored result was made on the queue, so this runs there.
    func deliver(_ moment: consuming Delivery.Moment, onQueue: Bool = false) {
        switch consume moment {
        case .later: break
        case .inPlace(let call): call.make()
        case .onQueue: if onQueue { complete() } else { context.run(on: queue) { self.complete() } }
        }
    }

    private func complete() { state.withLock { $0.delivery.take() }?.make() }
}
