/// The HTTPInterceptors, which run around an attempt. While they run, no hop may be under way: before they ask for one, and after they
/// got what it came to.
extension FetchState {
    /// The interceptors no longer await the reply to their request.
    struct RequestAbandoned: Error {}

    /// What runs around the attempt under way.
    struct Intercepting {
        let interception: Interception
        /// Whether it waits for what its request comes to.
        var isWaiting = false
    }

    /// Where the fetch was when the HTTPInterceptors returned.
    enum Intercepted {
        /// The head of a stream has come, and is not delivered.
        case opening
        /// Anything else.
        case attempt
    }

    /// The interceptors are about to run around an attempt. Returns whether it is still under way.
    mutating func begin(_ interception: Interception, of attempt: Attempt) -> Bool {
        guard case .making = stage, isCurrent(attempt) else { return false }
        intercepting = Intercepting(interception: interception)
        return true
    }

    /// They ask for a request to be carried. Returns whether the attempt is still under way.
    mutating func ask(_ interception: Interception, now: MonotonicTime) -> Bool {
        guard intercepting?.interception === interception else { return false }
        clocks.progressed(now: now)
        intercepting?.isWaiting = true
        return true
    }

    /// Ends the request that they wait for. Returns what to release, or `nil` if they do not wait.
    mutating func abandon(_ interception: Interception, now: MonotonicTime) -> Settled? {
        guard intercepting?.interception === interception, intercepting?.isWaiting == true else { return nil }
        return settle(.noRequest(RequestAbandoned()), now: now)
    }

    /// Takes those that wait for what the attempt comes to, or for the head of its stream.
    mutating func takeWaiting() -> Interception? {
        guard intercepting?.isWaiting == true else { return nil }
        intercepting?.isWaiting = false
        return intercepting?.interception
    }

    /// They have come to this end. Returns `nil` if their attempt is over.
    mutating func end(_ interception: Interception, with ending: Ending) -> Intercepted? {
        guard intercepting?.interception === interception else { return nil }
        intercepting = nil
        switch stage {
        case .opening, .openingLate: return .opening
        case .scheduling(let hop, let first) where first?.isFinal != true:
            // What they returned stands in place of the request that they gave up.
            stage = .scheduling(hop, ending: ending)
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
