internal import Dispatch
internal import FoundationEssentials

/// One fetch from call to completion: makes the request, runs the hops, keeps the deadlines, has failures voted on, ends
/// exactly once.
///
/// What happens is decided by ``ExchangeState`` under the lock and done here after it is released.
@usableFromInline
final class Exchange: Cancelable {
    let state: Lock<ExchangeState>
    let isIntercepted: Bool
    /// Where it tells what is heard of it under way, if anybody hears: in order, and before the end.
    private let ownQueue: DispatchQueue?
    let receiver: StreamReceiver?
    let options: Shared<HTTP.Options>
    let context: ExchangeContext

    init(_ steps: any ExchangeSteps, in context: ExchangeContext) {
        options = steps.options
        state = Lock(ExchangeState(options: steps.options, steps: steps, now: .now))
        isIntercepted = steps.isIntercepted
        receiver = steps.receiver
        self.context = context
        ownQueue = options.value.isHeard ? DispatchQueue(label: "exchange", target: context.queue) : nil
    }

    var queue: DispatchQueue { ownQueue ?? context.queue }

    var memory: StateManagement { context.memory }

    var retryTimer: RetryTimer { context.retryTimer }

    /// Whoever serves the exchange; nobody after its end.
    var steps: (any ExchangeSteps)? { state.withLock { $0.steps } }

    // MARK: Making

    /// Begins the first attempt. The stack's options were checked when it was made.
    func begin(_ steps: any ExchangeSteps) {
        if !(options === context.options) {
            do { try options.value.validate() } catch { return refuse(HopFailure(error)) }
        }
        beginAttempt(steps)
    }

    /// An identifier for a new attempt; 0 if nobody intercepts.
    private var nextIdentifier: Int { isIntercepted ? steps?.nextIdentifier() ?? 0 : 0 }

    /// Nothing is made, in no attempt: the options stay what they are. Who intercepts hears of it as of any failure.
    private func refuse(_ failure: HopFailure) {
        let identifier = nextIdentifier
        state.withLock { $0.attempt = Attempt(identifier: identifier, retryState: $0.retryState) }
        conclude(.failed(failure))
    }

    /// Makes the request, afresh, and sends it.
    func beginAttempt(_ steps: any ExchangeSteps) {
        let identifier = nextIdentifier
        let begun = state.withLock { state in
            // The first attempt begins with the fetch.
            state.beginAttempt(
                identifier,
                now: state.attempt == nil ? state.clocks.startedAt : .now,
                firstLook: context.firstLook(with: options)
            )
        }
        guard let begun else { return }
        let attempt = begun.attempt
        let ticket = context.wheel.insert(self, at: begun.firstLook, isNew: begun.lastTicket == nil)
        // Afterwards: nobody is to take the fetch for over.
        if let lastTicket = begun.lastTicket { context.wheel.remove(lastTicket) }
        guard let ticket else { return end(.failed(.shutDown)) }
        if let late = state.withLock({ $0.hold(ticket: ticket, of: attempt) }) { context.wheel.remove(late) }
        if let made = steps.makeAtOnce(attempt) {
            // Where nobody intercepts, there is no other attempt.
            guard !isIntercepted || state.withLock({ $0.handOver(attempt).isWanted }) else { return }
            return carry(made, attempt, by: steps)
        }
        let making = steps.make(attempt) { [self] result in
            let (isWanted, made) = state.withLock { $0.handOver(attempt) }
            guard isWanted, let steps = self.steps else { return self }
            defer { withExtendedLifetime(made) {} }
            carry(result, attempt, by: steps)
            return self
        }
        if making !== self { state.withLock { $0.hold(making: making, of: attempt) }?.cancel() }
    }

    // MARK: Hops

    private func carry(_ made: Result<HTTP.Request, any Error>, _ attempt: Attempt, by steps: any ExchangeSteps) {
        switch made {
        case .success(let request):
            let request = context.addingSessionHeaders(to: request, options: options)
            carry(request, of: attempt.number, isFirst: true, by: steps)
        case .failure(let error): conclude(.noRequest(error), of: attempt.number)
        }
    }

    private func carry(_ request: HTTP.Request, of attempt: Int, isFirst: Bool, by steps: any ExchangeSteps) {
        let (hop, plain, fragment): (HTTPHop, HTTP.Request, String?)
        do {
            (hop, plain, fragment) = try makeHop(request)
        } catch {
            return conclude(.failed(error), of: attempt)
        }
        let begun = state.withLock { $0.begin(plain, fragment: fragment, source: hop.source, of: attempt) }
        guard let number = begun else {
            hop.source?.close()
            return
        }
        if isFirst, isIntercepted {
            // What nobody was told of is not started.
            guard let scheduled = state.withLock({ $0.beginScheduling(hop: number) }) else { return }
            steps.schedule(scheduled)
            if let ending = state.withLock({ $0.endScheduling() }) { return conclude(ending, of: attempt) }
        }
        let transfer = steps.start(hop, for: self, number: number)
        let (cancels, resumesSending, resumesReceiving) = state.withLock { $0.hold(transfer, hop: number) }
        if cancels { transfer.cancel() }
        if resumesSending { transfer.resumeSending() }
        if resumesReceiving { transfer.resumeReceiving() }
    }

    /// Checks a request and works out how it is carried.
    ///
    /// - Returns: Besides, the request without the jar's cookies, and the fragment that was left out.
    private func makeHop(
        _ request: HTTP.Request
    ) throws(HopFailure) -> (HTTPHop, HTTP.Request, fragment: String?) {
        let recentHop = context.recentHop
        if let recent = recentHop?.hop(for: request, options: options, allowsWithholding: receiver == nil) {
            let hop = recent.trusting(try trust(for: recent.origin, after: recent.trust))
            if hop !== recent { recentHop?.keep(hop) }
            return (hop, request, nil)
        }
        let (checked, origin, urlText, fragment) = try check(request)
        let trust = try trust(for: origin)
        let source = try open(checked)
        let hop = HTTPHop(
            request: memory.isOn ? memory.withCookies(checked, origin: origin, urlText: urlText) : checked,
            origin: origin,
            urlText: urlText,
            options: options,
            trust: trust,
            source: source,
            allowsWithholding: receiver == nil
        )
        if fragment == nil { recentHop?.keep(hop) }
        return (hop, checked, fragment)
    }

    private func check(
        _ request: HTTP.Request
    ) throws(HopFailure) -> (HTTP.Request, HTTP.Origin, urlText: String, fragment: String?) {
        do throws(HTTP.InvalidValue) {
            let secured = memory.isOn ? try memory.secured(request) : request
            return try secured.checked(pathAsIs: options.value.pathAsIs)
        } catch {
            throw HopFailure(error)
        }
    }

    private func trust(for origin: HTTP.Origin, after last: ServerTrust = .ordinary) throws(HopFailure) -> ServerTrust {
        do { return try context.trust(for: origin, after: last) } catch { throw .untrusted(error) }
    }

    /// Opens a request's content, if it is read piece by piece.
    private func open(_ request: HTTP.Request) throws(HopFailure) -> (any HTTPBodySource)? {
        // A weak reference costs every later one; most requests have nothing to read.
        guard request.body.isRead else { return nil }
        let source: (any HTTPBodySource)?
        do { source = try request.body.open { [weak self] in self?.sourceIsReady() } } catch { throw HopFailure(error) }
        if let source {
            do { try request.checkLength(of: source) } catch { throw HopFailure(error) }
        }
        return source
    }

    /// Does what an event of the transfer asks for, unless another attempt has begun meanwhile.
    func act(on event: (inout ExchangeState) -> ExchangeState.Verdict) {
        var attempt = 0
        let verdict = state.withLock { state in
            attempt = state.attemptNumber
            return event(&state)
        }
        switch consume verdict {
        case .goOn, .ignore: break
        case .end(let ending): conclude(ending, of: attempt)
        case .open(let response): open(response)
        case .follow(let request, let abandoned, let source):
            abandoned?.cancel()
            source?.close()
            // Nobody serves a fetch that has ended meanwhile.
            if let steps { carry(request, of: attempt, isFirst: false, by: steps) }
        }
    }

    // MARK: Ending

    @usableFromInline
    func cancel() { conclude(.cancelled) }

    /// An attempt has come to an end: it is what the fetch comes to, unless somebody intercepts.
    ///
    /// - Parameters:
    ///   - ending: The end.
    ///   - attempt: The attempt's number; `nil` for whichever is under way.
    func conclude(_ ending: Ending, of attempt: Int? = nil) {
        if let located = withContext(ending) { return conclude(located, of: attempt) }
        if let receiver, state.withLock({ $0.streams(in: attempt) }) {
            if let steps { receiver.fail(steps.streamError(of: ending)) }
            if let remains = state.withLock({ $0.streamFailed(ending) }) { return release(remains, after: ending) }
            return end(ending, of: attempt)
        }
        guard isIntercepted, !ending.isFinal else { return end(ending, of: attempt) }
        guard let settled = state.withLock({ $0.settle(ending, of: attempt, now: .now) }) else { return }
        release(settled.remains, after: ending)
        let attempt = settled.attempt
        ResumeBatch.call(on: queue) { self.settle(ending, attempt) }
    }

    /// The fetch ends with this, unless another attempt than the one it is the end of has begun.
    func end(_ ending: Ending, of attempt: Int? = nil, onQueue: Bool = false) {
        if let located = withContext(ending) { return end(located, of: attempt, onQueue: onQueue) }
        guard let ended = state.withLock({ $0.end(ending, of: attempt, isIntercepted: isIntercepted) }) else { return }
        // Since somebody looked last, the stream may have been delivered: whoever reads it hears of this.
        if let steps = ended.streaming { receiver?.fail(steps.streamError(of: ending)) }
        release(ended.remains, after: ending)
        deliver(ended.moment, onQueue: onQueue)
    }

    /// A failure with its context added; `nil` for an ending that has one or needs none.
    private func withContext(_ ending: Ending) -> Ending? {
        guard case .failed(let failure, nil) = ending else { return nil }
        return .failed(failure, state.withLock { $0.context(now: .now) })
    }

    private func release(_ remains: borrowing ExchangeState.Remains, after ending: Ending) {
        if let ticket = remains.ticket { context.wheel.remove(ticket) }
        if let pending = remains.pending {
            // It may be the user's. Who cancels does so in place; a clock, or a transport, goes on at once.
            if case .cancelled = ending { pending.cancel() } else { queue.async { pending.cancel() } }
        }
        remains.transfer?.cancel()
        remains.source?.close()
    }

    /// `fetch` is about to return; from now on the completion may be called.
    func returnsToCaller() {
        deliver(state.withLock { $0.delivery.returned() })
    }

    /// Promises that the completion runs no user code, so that it may be called where the fetch ended.
    @usableFromInline
    func completesInPlace() {
        guard !options.value.isHeard else { return }
        state.withLock { $0.delivery.completesInPlace = true }
    }

    /// Calls the completion, if its moment has come.
    func deliver(_ moment: consuming Delivery.Moment, onQueue: Bool = false) {
        switch consume moment {
        case .later: break
        case .inPlace(let call): call.make()
        case .onQueue: if onQueue { complete() } else { ResumeBatch.call(on: queue) { self.complete() } }
        }
    }

    private func complete() { state.withLock { $0.delivery.take() }?.make() }
}
