/// What follows the head of a response whose content is streamed.
extension ExchangeState {
    /// A piece of a stream came, and whether its reader has room for more.
    mutating func streamed(hop: Int, hasRoom: Bool, now: MonotonicTime) {
        guard isCurrent(hop), stage == .streaming else { return }
        clocks.heldBack(!hasRoom, now: now)
    }

    /// The reader of a stream has room again. Answers whom to tell.
    mutating func goesOn(now: MonotonicTime) -> (any HTTPTransfer)? {
        guard stage == .streaming else { return nil }
        clocks.heldBack(false, now: now)
        if remains.transfer == nil { resumesReceiving = true }
        return remains.transfer
    }

    /// The head of a stream is to be delivered. Answers when.
    mutating func open(_ ending: Ending) -> Delivery.Moment {
        guard stage == .streaming else { return .later }
        (isTold, isOpened) = (true, true)
        var serving = steps  // The stream needs them, too.
        return delivery.ended(ending, by: &serving)
    }

    /// Whether a stream is under way, of an attempt; of any where none is named.
    func streams(in number: Int?) -> Bool {
        stage == .streaming && number ?? attemptNumber == attemptNumber
    }

    /// A stream came to its end. Answers whether to end the exchange now; if not, its head is to be delivered first.
    mutating func streamFinished() -> Bool {
        remains.transfer = nil
        streamIsOver = true
        return isOpened
    }

    /// A stream has failed, or is given up. Answers what to let go of if its head is being told: it is delivered all the same,
    /// for the interceptors have heard, or hear now, of a success. A cancel does not wait for that.
    mutating func streamFailed(_ ending: Ending) -> Remains? {
        guard stage == .streaming, !isOpened else { return nil }
        if case .cancelled = ending { return nil }
        streamIsOver = true
        return letGo(keepingTicket: false)
    }
}
