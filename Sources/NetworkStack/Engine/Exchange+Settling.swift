internal import Dispatch

/// What becomes of an attempt that somebody intercepts. All of it runs on the engine's queue.
extension Exchange {
    /// Has what came of an attempt transformed, told and voted on.
    func settle(_ ending: Ending, _ attempt: Attempt) {
        guard let steps else { return }
        guard steps.judge(ending) else { return fail(attempt) }
        guard steps.interceptsContent else { return settled(true, attempt) }
        // A transformation may come back at once or from anywhere; only the latter needs the queue again.
        let inside = Lock<(isInside: Bool, isSuccess: Bool?)>((true, nil))
        let transforming = steps.transform { [self] isSuccess in
            let isLate = inside.withLock { inside in
                if inside.isInside { inside.isSuccess = isSuccess }
                return !inside.isInside
            }
            if isLate { queue.async { self.settled(isSuccess, attempt) } }
        }
        let isSuccess = inside.withLock { inside in
            inside.isInside = false
            return inside.isSuccess
        }
        if let isSuccess { return settled(isSuccess, attempt) }
        state.withLock { $0.hold(settling: transforming, of: attempt) }?.cancel()
    }

    private func settled(_ isSuccess: Bool, _ attempt: Attempt) {
        guard isSuccess else { return fail(attempt) }
        guard let steps, state.withLock({ $0.tell() }).tells else { return }
        steps.succeed(attempt)
        end(.judged, onQueue: true)
    }

    private func fail(_ attempt: Attempt) {
        guard let steps, state.withLock({ $0.tell() }).tells else { return }
        let (action, error) = steps.vote(attempt)
        let delay: Retry.Delay?
        switch action {
        case .none: return end(.judged, onQueue: true)
        case .noRetry(let reason): return giveUp(reason, after: error)
        case .retry: delay = nil
        case .retryAfter(let wanted):
            guard wanted.isFinite, wanted > 0 else { return giveUp(.custom(Retry.InvalidDelay(wanted)), after: error) }
            delay = wanted
        }
        guard let retryState = state.withLock({ $0.failed(error, delay: delay, now: .now) }) else { return }
        guard let delay else { return beginAttempt(steps) }
        // Nobody waits longer than thirty years.
        let waiting = retryTimer.schedule(after: .seconds(min(delay, 1e9))) { [self] in
            queue.async { self.steps.map(self.beginAttempt) }
        }
        state.withLock { $0.hold(delayed: waiting, after: retryState) }?.cancel()
    }

    private func giveUp(_ reason: Retry.Error, after error: any Error) {
        guard let retryState = state.withLock({ $0.failed(error, delay: nil, now: .now) }) else { return }
        steps?.giveUp(reason, retryState)
        end(.judged, onQueue: true)
    }

    /// The head of a stream came.
    func open(_ response: HTTP.Response) {
        guard isIntercepted else { return opened(.opened(response)) }
        queue.async { [self] in
            guard let steps, let attempt = state.withLock({ $0.tell().tells ? $0.attempt : nil }) else { return }
            _ = steps.judge(.opened(response))
            steps.succeed(attempt)
            opened(.judged, onQueue: true)
        }
    }

    private func opened(_ ending: Ending, onQueue: Bool = false) {
        deliver(state.withLock { $0.open(ending) }, onQueue: onQueue)
        if state.withLock({ $0.streamIsOver }) { end(.judged) }
    }
}
