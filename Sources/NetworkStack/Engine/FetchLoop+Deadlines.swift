/// The fetch on the timer wheel: when its clocks are read.
extension FetchLoop: TimerWheelEntry {
    func deadlineReached(_ now: MonotonicTime) -> MonotonicTime? {
        let (reading, attempt) = state.withLock { ($0.isEnded ? nil : $0.clocks.read(now), $0.attemptNumber) }
        switch reading {
        case nil: return nil
        case .lookAgain(let deadline): return deadline
        case .expired(let timeout, let phase):
            run(.settle(.failed(.timedOut(timeout, during: phase)), of: attempt))
            return state.withLock { state in
                guard !state.isEnded else { return nil }
                if case .lookAgain(let deadline) = state.clocks.read(now) { return deadline }
                // The end waits for the interceptors: look again in a tick of the wheel.
                return now + .milliseconds(8)
            }
        }
    }
}
