internal import Dispatch
internal import FoundationEssentials

/// The loop of a fetch, in neutral types: make the request, carry it hop by hop, settle the attempt, and again, or done.
///
/// ``FetchState`` decides what happens, under the lock. ``run(_:)`` does it after the lock is released. A fetch ends exactly once.
@usableFromInline
final class FetchLoop: Cancelable {
    let state: Lock<FetchState>
    let isIntercepted: Bool
    /// Where the callbacks of its options are called: in order, and before the completion.
    private let ownQueue: DispatchQueue?
    let receiver: StreamReceiver?
    let options: Shared<HTTP.Options>
    let context: EngineContext

    init(_ delegate: any FetchDelegate, in context: EngineContext) {
        options = delegate.options
        state = Lock(FetchState(options: delegate.options, delegate: delegate, trace: delegate.trace, now: .now))
        isIntercepted = delegate.isIntercepted
        receiver = delegate.receiver
        self.context = context
        ownQueue = options.value.hasCallbacks ? DispatchQueue(label: "fetch", target: context.queue) : nil
    }

    var queue: DispatchQueue { ownQueue ?? context.queue }

    var cookiesAndHSTS: CookiesAndHSTS { context.cookiesAndHSTS }

    /// Serves the fetch until its end.
    var delegate: (any FetchDelegate)? { state.withLock { $0.delegate } }

    /// Does what an event of the transfer leads to.
    func act(on event: (inout FetchState) -> FetchState.Step) { run(state.withLock(event)) }

    func run(_ first: consuming FetchState.Step) {
        var step = first
        while true {
            switch consume step {
            case .make: step = make()
            case .follow(let request, let abandoned, let source, let attempt):
                abandoned?.cancel()
                source?.close()
                step = carry(request, of: attempt, isFirst: false)
            case .open(let head): step = open(head)
            case .settle(let ending, let scope): step = settle(ending, of: scope)
            case .done(let ending, let scope): return end(ending, of: scope)
            case .wait: return
            }
        }
    }

    /// Makes the request, afresh for every attempt.
    private func make() -> FetchState.Step {
        let identifier = isIntercepted ? context.counts.nextIdentifier() : 0
        let offset = context.firstDeadlineOffset(with: options)
        let begun = state.withLock { $0.beginAttempt(identifier, now: .now, firstDeadlineOffset: offset) }
        guard let begun, let delegate = begun.delegate else { return .wait }
        let attempt = begun.attempt
        // The stack's options were checked when it was made; a resource's may be invalid.
        if !(options === context.options) {
            do { try options.value.validate() } catch { return .done(.failed(.invalidRequest(error.reason))) }
        }
        let ticket = context.deadlines.insert(self, at: begun.firstDeadline, isNew: begun.lastTicket == nil)
        // Afterwards, so that the fetch has a deadline all the time.
        if let lastTicket = begun.lastTicket { context.deadlines.remove(lastTicket) }
        guard let ticket else { return .done(.failed(.shutDown)) }
        if let late = state.withLock({ $0.hold(ticket: ticket, of: attempt) }) { context.deadlines.remove(late) }
        if let made = delegate.makeAtOnce(attempt) {
            // Without interceptors there is one attempt only, so no other can have begun meanwhile.
            guard !isIntercepted || state.withLock({ $0.handOver(attempt, now: nil).isWanted }) else { return .wait }
            return carry(made, attempt)
        }
        let making = delegate.make(attempt) { [self] result in
            let (isWanted, making) = state.withLock { $0.handOver(attempt, now: .now) }
            if isWanted { run(carry(result, attempt)) }
            withExtendedLifetime(making) {}
            // If the attempt is over, the maker must not be able to cancel the fetch, which may try again.
            return isWanted ? self : EmptyCancelable()
        }
        // The handler was called at once if it returned this fetch.
        if making !== self { state.withLock { $0.hold(making: making, of: attempt) }?.cancel() }
        return .wait
    }

    private func carry(_ made: Result<HTTP.Request, any Error>, _ attempt: Attempt) -> FetchState.Step {
        switch made {
        case .success(let request):
            if isIntercepted, let delegate, delegate.interceptsAttempts {
                intercept(request, attempt, for: delegate)
            } else {
                carryWithSessionFields(request, of: attempt)
            }
        case .failure(let error):
            error is MakingCancelled ? .settle(.cancelled) : .settle(.noRequest(error), of: .attempt(attempt.number))
        }
    }

    /// Adds the session's header fields to the request of an attempt, which an interceptor may have moved to another origin, and
    /// carries it.
    func carryWithSessionFields(
        _ request: HTTP.Request,
        of attempt: Attempt,
        hasMoved: Bool = false
    ) -> FetchState.Step {
        let whole = context.addingSessionHeaders(to: request, options: options, hasMoved: hasMoved)
        return carry(whole, of: attempt.number, isFirst: true)
    }

    /// Checks a request and starts its hop.
    private func carry(_ request: HTTP.Request, of attempt: Int, isFirst: Bool) -> FetchState.Step {
        let (hop, plain, fragment): (HTTPHop, HTTP.Request, String?)
        do { (hop, plain, fragment) = try makeHop(request) } catch {
            state.withLock { $0.latest = (attempt, request.method, request.url) }
            return .settle(.failed(error), of: .request(of: attempt))
        }
        let begun = state.withLock { $0.begin(plain, fragment: fragment, source: hop.source, of: attempt) }
        guard let begun, let delegate = begun.delegate else {
            hop.source?.close()
            return .wait
        }
        if isFirst, isIntercepted {
            // Only a transfer that was reported to the interceptors is started.
            guard let scheduled = state.withLock({ $0.beginScheduling(hop: begun.number) }) else { return .wait }
            delegate.reportScheduled(scheduled)
            let next = state.withLock { $0.endScheduling() }
            guard case .wait = next else { return next }
        }
        let transfer = delegate.start(hop, for: self, number: begun.number)
        let (cancels, resumesSending, resumesReceiving) = state.withLock { $0.hold(transfer, hop: begun.number) }
        if cancels { transfer.cancel() }
        if resumesSending { transfer.resumeSending() }
        if resumesReceiving { transfer.resumeReceiving() }
        return .wait
    }
}
