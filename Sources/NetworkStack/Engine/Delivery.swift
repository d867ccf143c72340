/// When the completion is called, and with what: once, and only after `fetch` has returned.
struct Delivery: ~Copyable {
    /// When, and where, to call it.
    enum Moment: ~Copyable {
        /// Not now: `fetch` has not returned, or the completion was called.
        case later
        /// Now, where the fetch ended.
        case inPlace(Call)
        /// On the queue, where the call is taken.
        case onQueue
    }

    /// What to complete with.
    struct Call: ~Copyable {
        let steps: (any ExchangeSteps)?
        let ending: Ending
        /// The attempt whose end is still to be told.
        let telling: Attempt?
        /// Whether the fetch was cancelled before the completion was called; a cancel always wins.
        fileprivate(set) var isCancelled = false

        /// Whether it runs no user code, if the completion does not.
        fileprivate var isPlain: Bool { ending.isPlain && telling == nil }

        /// Calls the completion.
        func make() { steps?.complete(isCancelled ? .cancelled : ending, telling: telling) }
    }

    /// Promises that the completion runs no user code.
    var completesInPlace = false
    private var call: Call?
    private var hasReturned = false
    private var isCalled = false

    /// The fetch has ended.
    ///
    /// - Parameters:
    ///   - ending: The end.
    ///   - attempt: The attempt whose end is still to be told.
    ///   - steps: Who calls; taken, unless the completion was called before.
    /// - Returns: When to call the completion with that.
    mutating func ended(
        _ ending: Ending,
        telling attempt: Attempt? = nil,
        by steps: inout (any ExchangeSteps)?
    ) -> Moment {
        guard !isCalled else {
            if case .cancelled = ending { call?.isCancelled = true }
            return .later
        }
        isCalled = true
        call = Call(steps: steps.take(), ending: ending, telling: attempt)
        return moment()
    }

    /// `fetch` is about to return. Answers when to call the completion.
    mutating func returned() -> Moment {
        hasReturned = true
        return moment()
    }

    private mutating func moment() -> Moment {
        if !hasReturned { return .later }
        guard let call = call.take() else { return .later }
        if call.isPlain, completesInPlace { return .inPlace(call) }
        self.call = consume call
        return .onQueue
    }

    /// Takes the call, to make it.
    mutating func take() -> Call? { call.take() }
}

extension Cancelable {
    /// An engine's fetch, with the promise that its completion runs no user code.
    @inlinable
    func completingInPlace() -> Self {
        (self as? Exchange)?.completesInPlace()
        return self
    }
}
