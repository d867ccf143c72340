internal import FoundationEssentials

/// The beginnings of attempts.
extension ExchangeState {
    /// An attempt that has begun.
    struct Begun: ~Copyable {
        let attempt: Attempt
        /// What the wheel held for the last one.
        let lastTicket: TimerWheel.Ticket?
        /// When to look at the clocks.
        let firstLook: MonotonicTime
    }

    /// Begins an attempt.
    ///
    /// - Parameters:
    ///   - identifier: The attempt's.
    ///   - now: When it begins.
    ///   - firstLook: How long after the fetch has begun, in nanoseconds, to look at its first attempt's clocks, if that is known.
    /// - Returns: The attempt, or `nil` if the exchange has ended.
    mutating func beginAttempt(_ identifier: Int, now: MonotonicTime, firstLook: UInt64? = nil) -> Begun? {
        guard stage != .ended else { return nil }
        let lastTicket = remains.ticket
        // The first finds everything as it was made.
        let isFirst = attempt == nil
        if !isFirst { forgetAttempt(now: now) }
        let attempt = Attempt(identifier: identifier, retryState: retryState)
        self.attempt = attempt
        let look = isFirst ? firstLook.map { clocks.startedAt.after(nanoseconds: $0) } : nil
        return Begun(attempt: attempt, lastTicket: lastTicket, firstLook: look ?? clocks.firstLook)
    }

    private mutating func forgetAttempt(now: MonotonicTime) {
        remains = Remains()
        stage = .making
        (isTold, redirects, body, metrics) = (false, [], Data(), nil)
        clocks.beganAttempt(now: now)
    }

    /// Keeps what cancels the making. Answers it back if it is to be cancelled at once, as its attempt is over by now: not after a
    /// request was handed over. That may have been fetched by now, and to cancel its making would be to cancel the fetch.
    mutating func hold(making: any Cancelable, of attempt: Attempt) -> (any Cancelable)? {
        guard handedOver < attempt.number else { return nil }
        guard stage == .making, isCurrent(attempt) else { return making }
        remains.pending = making
        return nil
    }

    mutating func hold(ticket: TimerWheel.Ticket, of attempt: Attempt) -> TimerWheel.Ticket? {
        if stage == .ended || !isCurrent(attempt) { return ticket }
        remains.ticket = ticket
        return nil
    }

    /// Answers whether the attempt's request is handed over for the first time, and still wanted; and the making, to be let go of.
    mutating func handOver(_ attempt: Attempt) -> (isWanted: Bool, making: (any Cancelable)?) {
        guard stage == .making, handedOver < attempt.number, isCurrent(attempt) else { return (false, nil) }
        handedOver = attempt.number
        return (true, remains.pending.take())
    }

    /// The number of the attempt that is under way.
    var attemptNumber: Int { retryState.attemptCount }

    func isCurrent(_ attempt: Attempt) -> Bool { attemptNumber == attempt.number }
}
