internal import Dispatch

/// The end of a fetch, and the call of its completion.
extension FetchLoop {
    @usableFromInline
    func cancel() { run(.settle(.cancelled)) }

    /// The fetch ends with this, unless another attempt than the one it is the end of has begun.
    func end(_ ending: consuming Ending, of attempt: Int? = nil) {
        let ending = withContext(ending)
        guard let ended = state.withLock({ $0.end(ending, of: attempt, isIntercepted: isIntercepted) }) else { return }
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
        guard case .failed(let failure, nil) = ending else { return ending }
        return .failed(failure, state.withLock { $0.context(now: .now) })
    }

    func release(_ held: FetchState.HeldResources, after ending: Ending) {
        if let ticket = held.ticket { context.wheel.remove(ticket) }
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
