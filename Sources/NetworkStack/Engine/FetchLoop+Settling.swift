internal import Dispatch

/// The end of an attempt. The interceptors judge it on the engine's queue.
extension FetchLoop {
    /// Without interceptors, the fetch comes to what its attempt came to. A stream whose head is delivered fails by itself.
    func settle(_ ending: consuming Ending, of scope: FetchState.Scope) -> FetchState.Step {
        let ending = withContext(ending)
        if let receiver, state.withLock({ $0.hasStreamHead(in: scope.attempt) }) {
            if let delegate {
                let error = delegate.streamError(of: ending)
                if receiver.fail(error) { delegate.trace?.streamFailed(error) }
            }
            guard let held = state.withLock({ $0.streamFailed(ending) }) else { return .done(ending, of: scope) }
            release(held, after: ending)
            return .wait
        }
        guard isIntercepted, !ending.isFinal else { return .done(ending, of: scope) }
        guard let settled = state.withLock({ $0.settle(ending, of: scope, now: .now) }) else { return .wait }
        release(settled.held, after: ending)
        if let waiting = settled.waiting {
            waiting.answer(with: ending)
            return .wait
        }
        context.run(on: queue) { [attempt = settled.attempt] in self.run(self.judge(ending, attempt)) }
        return .wait
    }

    /// Begins another attempt, or has the retry timer do so.
    func again(_ attempt: Int, after delay: Retry.Delay?) -> FetchState.Step {
        guard let delay else { return .make }
        let waiting = context.retryTimer.schedule(after: Retry.duration(delay)) { [self] in
            queue.async { self.run(.make) }
        }
        state.withLock { $0.hold(pending: waiting, of: attempt) }?.cancel()
        return .wait
    }

    /// Has a success transformed, and a failure voted on.
    func judge(_ ending: Ending, _ attempt: Attempt) -> FetchState.Step {
        guard let delegate else { return .wait }
        guard delegate.storeResult(of: ending) else { return vote(attempt) }
        if case .opened(let head, _) = ending {
            // An interceptor provides the body of this stream.
            delegate.trace?.replaced(head)
            delegate.trace?.streamEnded()
            return reportSuccess(attempt)
        }
        guard delegate.interceptsBody else { return reportSuccess(attempt) }
        let transforming = delegate.transform { [self] isSuccess in
            queue.async { self.run(isSuccess ? self.reportSuccess(attempt) : self.vote(attempt)) }
        }
        state.withLock { $0.hold(pending: transforming, of: attempt.number) }?.cancel()
        return .wait
    }

    func reportSuccess(_ attempt: Attempt) -> FetchState.Step {
        guard let delegate, state.withLock({ $0.claimReport() }).isFirst else { return .wait }
        delegate.reportSuccess(attempt)
        return .done(.resultStored)
    }

    func vote(_ attempt: Attempt) -> FetchState.Step {
        guard let delegate, state.withLock({ $0.claimReport() }).isFirst else { return .wait }
        let (action, error) = delegate.vote(attempt)
        let delay: Retry.Delay?
        switch action {
        case .none: return .done(.resultStored)
        case .noRetry(let reason): return giveUp(reason, after: error)
        case .retry: delay = nil
        case .retryAfter(let wanted):
            guard wanted.isFinite, wanted > 0 else { return giveUp(.custom(Retry.InvalidDelay(wanted)), after: error) }
            delay = wanted
        }
        let (hop, kept) = (HTTP.EarlierHop(attempt: attempt.number, failure: error), delegate.abridged(error))
        let retryState = state.withLock { $0.failed(error, hop, keeping: kept, delay: delay, now: .now) }
        return retryState.map { again($0.attemptCount, after: delay) } ?? .wait
    }

    private func giveUp(_ reason: Retry.Error, after error: any Error) -> FetchState.Step {
        guard let retryState = state.withLock({ $0.failed(error, delay: nil, now: .now) }) else { return .wait }
        delegate?.giveUp(reason, retryState)
        return .done(.resultStored)
    }

    /// Delivers a stream, after its success has been reported to the interceptors.
    func open(_ response: HTTP.Response) -> FetchState.Step {
        guard isIntercepted else { return open(.opened(response)) }
        if let waiting = state.withLock({ $0.takeWaiting() }) {
            waiting.answer(with: .opened(response))
        } else {
            queue.async { self.run(self.report(.opened(response))) }
        }
        return .wait
    }

    /// Reports the success of a stream to the interceptors, and delivers it.
    func report(_ opened: Ending) -> FetchState.Step {
        guard let delegate, let attempt = state.withLock({ $0.claimReport().isFirst ? $0.attempt : nil }) else {
            return .wait
        }
        if case .opened(let head, _) = opened, receiver?.isAbandoned == true { delegate.trace?.replaced(head) }
        _ = delegate.storeResult(of: opened)
        delegate.reportSuccess(attempt)
        return open(.resultStored)
    }

    private func open(_ ending: Ending) -> FetchState.Step {
        let opened = state.withLock { $0.open(ending) }
        deliver(opened.moment, onQueue: ending.isStored)
        return opened.isOver ? .done(.resultStored) : .wait
    }
}

/// The end of a fetch, and the call of its completion.
extension FetchLoop {
    @usableFromInline
    func cancel() { run(.settle(.cancelled)) }

    /// The fetch ends with this, unless what this is the end of has ended before.
    func end(_ ending: consuming Ending, of scope: FetchState.Scope) {
        let ending = withContext(ending)
        guard let ended = state.withLock({ $0.end(ending, of: scope, isIntercepted: isIntercepted) }) else { return }
        // The stream may have been delivered meanwhile: its reader fails with this.
        if let delegate = ended.streaming {
            let error = delegate.streamError(of: ending)
            if receiver?.fail(error) ?? false, !ending.isStored { delegate.trace?.streamFailed(error) }
            if ended.isDelivered { delegate.trace?.streamEnded() }
        }
        release(ended.held, after: ending)
        deliver(ended.moment, onQueue: ending.isStored)
    }

    /// An ending; a failure with its context.
    func withContext(_ ending: consuming Ending) -> Ending {
        switch ending {
        case .failed(let failure, nil): .failed(failure, state.withLock { $0.context(now: .now) })
        case .thrown(let error, nil): .thrown(error, state.withLock { $0.context(now: .now) })
        default: ending
        }
    }

    func release(_ held: FetchState.HeldResources, after ending: Ending) {
        if let ticket = held.ticket { context.deadlines.remove(ticket) }
        if let interception = held.interception {
            if ending.isCancelled {
                interception.cancel(after: ending)
            } else {
                queue.async { interception.cancel(after: ending) }
            }
        }
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
