internal import Dispatch
internal import FoundationEssentials

/// The loop of a fetch: make the request, carry it hop by hop, settle the attempt, and again, or done.
extension Exchange {
    func run(_ first: consuming FetchState.Step) {
        var step = first
        while true {
            switch consume step {
            case .make: step = make()
            case .carry(let request, let attempt, let isFirst): step = carry(request, of: attempt, isFirst: isFirst)
            case .follow(let request, let abandoned, let source, let attempt):
                abandoned?.cancel()
                source?.close()
                step = .carry(request, of: attempt, isFirst: false)
            case .open(let head): step = open(head)
            case .settle(let ending, let attempt): step = settle(ending, of: attempt)
            case .judge(let ending, let attempt): step = judge(ending, attempt)
            case .succeed(let attempt): step = succeed(attempt)
            case .vote(let attempt): step = vote(attempt)
            case .again(let attempt, let delay): step = again(attempt, after: delay)
            case .done(let ending, let attempt): return end(ending, of: attempt)
            case .wait: return
            }
        }
    }

    /// Makes the request, afresh for every attempt.
    private func make() -> FetchState.Step {
        let identifier = isIntercepted ? delegate?.nextIdentifier() ?? 0 : 0
        let firstLook = context.firstLook(with: options)
        let begun = state.withLock { $0.beginAttempt(identifier, now: .now, firstLook: firstLook) }
        guard let begun, let delegate = begun.delegate else { return .wait }
        let attempt = begun.attempt
        // The stack's options were checked when it was made; a resource's may be invalid.
        if !(options === context.options) {
            do { try options.value.validate() } catch { return .done(.failed(HopFailure(error))) }
        }
        let ticket = context.wheel.insert(self, at: begun.firstLook, isNew: begun.lastTicket == nil)
        // Afterwards, so that the fetch is in the wheel all the time.
        if let lastTicket = begun.lastTicket { context.wheel.remove(lastTicket) }
        guard let ticket else { return .done(.failed(.shutDown)) }
        if let late = state.withLock({ $0.hold(ticket: ticket, of: attempt) }) { context.wheel.remove(late) }
        if let made = delegate.makeAtOnce(attempt) {
            // Without interceptors, there is no other attempt.
            guard !isIntercepted || state.withLock({ $0.handOver(attempt).isWanted }) else { return .wait }
            return carry(made, attempt)
        }
        let making = delegate.make(attempt) { [self] result in
            let (isWanted, making) = state.withLock { $0.handOver(attempt) }
            if isWanted { run(carry(result, attempt)) }
            withExtendedLifetime(making) {}
            return self
        }
        if making !== self { state.withLock { $0.hold(making: making, of: attempt) }?.cancel() }
        return .wait
    }

    private func carry(_ made: Result<HTTP.Request, any Error>, _ attempt: Attempt) -> FetchState.Step {
        switch made {
        case .success(let request):
            .carry(context.addingSessionHeaders(to: request, options: options), of: attempt.number, isFirst: true)
        case .failure(let error): .settle(.noRequest(error), of: attempt.number)
        }
    }

    /// Checks a request and starts its hop.
    private func carry(_ request: HTTP.Request, of attempt: Int, isFirst: Bool) -> FetchState.Step {
        let (hop, plain, fragment): (HTTPHop, HTTP.Request, String?)
        do { (hop, plain, fragment) = try makeHop(request) } catch { return .settle(.failed(error), of: attempt) }
        let begun = state.withLock { $0.begin(plain, fragment: fragment, source: hop.source, of: attempt) }
        guard let begun, let delegate = begun.delegate else {
            hop.source?.close()
            return .wait
        }
        if isFirst, isIntercepted {
            // Only a transfer that was reported to the interceptors is started.
            guard let scheduled = state.withLock({ $0.beginScheduling(hop: begun.number) }) else { return .wait }
            delegate.schedule(scheduled)
            if let ending = state.withLock({ $0.endScheduling() }) { return .settle(ending, of: attempt) }
        }
        let transfer = delegate.start(hop, for: self, number: begun.number)
        let (cancels, resumesSending, resumesReceiving) = state.withLock { $0.hold(transfer, hop: begun.number) }
        if cancels { transfer.cancel() }
        if resumesSending { transfer.resumeSending() }
        if resumesReceiving { transfer.resumeReceiving() }
        return .wait
    }

    /// Without interceptors, the fetch comes to what its attempt came to. A stream whose head is delivered fails by itself.
    private func settle(_ ending: consuming Ending, of attempt: Int?) -> FetchState.Step {
        let ending = withContext(ending)
        if let receiver, state.withLock({ $0.streams(in: attempt) }) {
            if let delegate { receiver.fail(delegate.streamError(of: ending)) }
            guard let held = state.withLock({ $0.streamFailed(ending) }) else { return .done(ending, of: attempt) }
            release(held, after: ending)
            return .wait
        }
        guard isIntercepted, !ending.isFinal else { return .done(ending, of: attempt) }
        guard let settled = state.withLock({ $0.settle(ending, of: attempt, now: .now) }) else { return .wait }
        release(settled.held, after: ending)
        context.run(on: queue) { [attempt = settled.attempt] in self.run(.judge(ending, attempt)) }
        return .wait
    }

    /// Begins another attempt, or has the retry timer do so.
    private func again(_ attempt: Int, after delay: Retry.Delay?) -> FetchState.Step {
        guard let delay else { return .make }
        // The longest wait is thirty years.
        let waiting = context.retryTimer.schedule(after: .seconds(min(delay, 1e9))) { [self] in
            queue.async { self.run(.make) }
        }
        state.withLock { $0.hold(pending: waiting, of: attempt) }?.cancel()
        return .wait
    }
}
