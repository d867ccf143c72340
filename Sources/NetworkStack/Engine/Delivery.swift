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
        let delegate: (any FetchDelegate)?
        let ending: Ending
        /// The attempt whose end is still to be reported.
        let unreported: Attempt?
        /// Whether the fetch was cancelled before.
        fileprivate var isCancelled = false

        /// Whether it runs no user code, if the completion does not.
        fileprivate var needsNoUserCode: Bool { ending.needsNoUserCode && unreported == nil }

        /// Calls the completion.
        func make() {
            if isCancelled, let metrics = ending.metrics { delegate?.trace?.ends(with: metrics) }
            delegate?.complete(isCancelled ? .cancelled : ending, reporting: unreported)
        }
    }

    /// Whether the completion runs no user code.
    private let completesInPlace: Bool
    private var call: Call?
    private var hasReturned = false
    /// Whether what the completion is called with is known.
    private(set) var isDecided = false
    private var isCancelled = false

    init(completesInPlace: Bool = false) { self.completesInPlace = completesInPlace }

    /// The fetch has ended.
    ///
    /// - Parameters:
    ///   - ending: The end.
    ///   - attempt: The attempt whose end is still to be reported.
    ///   - delegate: Calls the completion; taken, unless it was called before.
    /// - Returns: When to call the completion with that.
    mutating func ended(
        _ ending: Ending,
        reporting attempt: Attempt? = nil,
        by delegate: inout (any FetchDelegate)?
    ) -> Moment {
        guard !isDecided else { return .later }
        isDecided = true
        call = Call(delegate: delegate.take(), ending: ending, unreported: attempt)
        return moment()
    }

    /// The fetch is cancelled, which wins over any other end until the completion is called.
    mutating func cancel() { isCancelled = true }

    /// `fetch` is about to return. Returns when to call the completion.
    mutating func returned() -> Moment {
        hasReturned = true
        return moment()
    }

    private mutating func moment() -> Moment {
        if !hasReturned { return .later }
        guard let call = take() else { return .later }
        if call.needsNoUserCode, completesInPlace { return .inPlace(call) }
        self.call = consume call
        return .onQueue
    }

    /// Takes the call, to make it.
    mutating func take() -> Call? {
        guard var call = call.take() else { return nil }
        call.isCancelled = isCancelled
        return call
    }
}

/// The caller that waits for a fetch.
@usableFromInline
enum FetchCompletion<Value: Sendable>: Sendable {
    /// A task. Resuming it runs no user code, so the completion runs where the fetch ends.
    case resume(OneShot<Value>)
    /// A closure, called on the engine's queue.
    case call(@Sendable (Value) -> Void)

    /// Whether the completion runs no user code.
    @inlinable var resumesTask: Bool { if case .resume = self { true } else { false } }

    /// Completes the fetch. The batch resumes a task together with others, if this runs on the batch's thread.
    @inlinable
    func complete(_ value: Value, in batch: ResumeBatch?) {
        switch self {
        case .resume(let waiting): waiting.fill(value, in: batch)
        case .call(let completion): completion(value)
        }
    }
}
