/// The exchange on the wheel: when its clocks are read.
extension Exchange: TimerWheelEntry {
    func deadlineReached(_ now: MonotonicTime) -> MonotonicTime? {
        switch state.withLock({ $0.stage == .ended ? nil : $0.clocks.read(now) }) {
        case nil: return nil
        case .lookAgain(let deadline): return deadline
        case .expired(let timeout, let phase):
            conclude(.refused(.timedOut(timeout, during: phase)))
            return state.withLock { state in
                guard state.stage != .ended else { return nil }
                if case .lookAgain(let deadline) = state.clocks.read(now) { return deadline }
                return now + .milliseconds(8)
            }
        }
    }
}
