/// When the completion is called: once, and only after `fetch` has returned. What it is called with is moved, and never copied.
struct Delivery: ~Copyable {
    /// What to complete with, and where.
    struct Call: ~Copyable {
        let steps: (any ExchangeSteps)?
        let ending: Ending
        /// The attempt whose end is still to be told.
        let telling: Attempt?
        /// Whether the completion may be called where the fetch ended.
        let isInPlace: Bool
    }

    /// Promises that the completion runs no user code.
    var completesInPlace = false
    /// Whether the fetch was cancelled before its completion was called; a cancel always wins.
    private(set) var isCancelled = false
    private var call: Call?
    private var hasReturned = false
    private var isCalled = false

    /// The fetch has ended. Answers the call to make now.
    mutating func ended(
        _ ending: Ending,
        telling attempt: Attempt? = nil,
        steps: (any ExchangeSteps)? = nil
    ) -> Call? {
        guard !isCalled else {
            if case .cancelled = ending { isCancelled = true }
            return nil
        }
        isCalled = true
        let call: Call? = Call(
            steps: steps,
            ending: ending,
            telling: attempt,
            isInPlace: completesInPlace && ending.isPlain && attempt == nil
        )
        if hasReturned { return call }
        self.call = call
        return nil
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
