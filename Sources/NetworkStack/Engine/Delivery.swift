/// When the completion is called: once, and only after `fetch` has returned.
struct Delivery: ~Copyable {
    /// When, and where, to call it.
    enum Moment {
        /// Not now: `fetch` has not returned, or the completion was called.
        case later
        /// Now, where the fetch ended.
        case inPlace
        case onQueue
    }

    /// What to complete with once `fetch` returns, and where.
    struct Call: ~Copyable {
        let steps: (any ExchangeSteps)?
        let ending: Ending
        /// The attempt whose end is still to be told.
        let telling: Attempt?
        let moment: Moment
    }

    /// Promises that the completion runs no user code.
    var completesInPlace = false
    /// Whether the fetch was cancelled before its completion was called; a cancel always wins.
    private(set) var isCancelled = false
    private var call: Call?
    private var hasReturned = false
    private var isCalled = false

    /// The fetch has ended. Answers when to call the completion with that.
    mutating func ended(
        _ ending: Ending,
        telling attempt: Attempt? = nil,
        steps: (any ExchangeSteps)? = nil
    ) -> Moment {
        guard !isCalled else {
            if case .cancelled = ending { isCancelled = true }
            return .later
        }
        isCalled = true
        let moment: Moment = completesInPlace && ending.isPlain && attempt == nil ? .inPlace : .onQueue
        if hasReturned { return moment }
        call = Call(steps: steps, ending: ending, telling: attempt, moment: moment)
        return .later
    }

    /// `fetch` is about to return. Answers the call to make now.
    mutating func returned() -> Call? {
        hasReturned = true
        return call.take()
    }
}

extension Cancelable {
    /// An engine's fetch, with the promise that its completion runs no user code.
    @inlinable
    func completingInPlace() -> Self {
        (self as? Exchange)?.completesInPlace()
        return self
    }
}
