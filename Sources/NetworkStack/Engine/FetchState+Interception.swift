/// The HTTPInterceptors, which run around an attempt. While they run, no hop may be under way: before they ask for one, and after they
/// got what it came to.
extension FetchState {
    /// What runs around the attempt under way.
    enum Intercepting {
        /// They have not asked for a request yet, or no longer wait for it.
        case running(Interception)
        /// They wait for what their request comes to.
        case waiting(Interception)
        /// They have returned.
        case returned

        var interception: Interception? {
            switch self {
            case .running(let interception), .waiting(let interception): interception
            case .returned: nil
            }
        }

        var isWaiting: Bool { if case .waiting = self { true } else { false } }
    }

    /// Where the fetch was when the HTTPInterceptors returned.
    enum Intercepted {
        /// The head of a stream has come, and is not delivered.
        case opening
        /// Anything else.
        case attempt
    }

    var interceptorsRun: Bool { intercepting?.interception != nil }

    /// The interceptors are about to run around an attempt. Returns whether it is still under way.
    mutating func begin(_ interception: Interception, of attempt: Attempt) -> Bool {
        guard case .making = stage, isCurrent(attempt) else { return false }
        intercepting = .running(interception)
        return true
    }

    /// They ask for a request to be carried. Returns whether the attempt is still under way.
    mutating func ask(_ interception: Interception, now: MonotonicTime) -> Bool {
        guard intercepting?.interception === interception else { return false }
        clocks.progressed(now: now)
        intercepting = .waiting(interception)
        return true
    }

    /// Ends the request that they wait for. Returns what to release, or `nil` if they do not wait.
    mutating func abandon(_ interception: Interception, now: MonotonicTime) -> Settled? {
        guard intercepting?.interception === interception else { return nil }
        return settle(.noRequest(CancellationError()), of: .request(of: attemptNumber), now: now)
    }

    /// Takes those that wait for what the attempt comes to, or for the head of its stream.
    mutating func takeWaiting() -> Interception? {
        guard case .waiting(let interception) = intercepting else { return nil }
        intercepting = .running(interception)
        return interception
    }

    /// They have come to this end. Returns `nil` if their attempt is over.
    mutating func end(_ interception: Interception, with ending: Ending) -> Intercepted? {
        guard intercepting?.interception === interception else { return nil }
        intercepting = .returned
        switch stage {
        case .opening, .openingLate: return .opening
        case .scheduling(let hop, let first) where first?.ending.isFinal != true:
            // What they returned stands in place of the request that they gave up.
            stage = .scheduling(hop, then: (ending, of: .attempt(attemptNumber)))
            return .attempt
        default: return .attempt
        }
    }

    /// The reader of a stream has gone. Until the head is delivered, that is an interceptor that replaces the stream or rejects it.
    ///
    /// - Returns: Whether to cancel the fetch, and what to release.
    mutating func leaveStream() -> (cancels: Bool, held: HeldResources?) {
        switch stage {
        case .opening(_, let isReported):
            (cancels: false, held: HeldResources(stage: exchange(&stage, with: .openingLate(isReported: isReported))))
        case .streaming: (cancels: true, held: nil)
        default: (cancels: false, held: nil)
        }
    }
}
