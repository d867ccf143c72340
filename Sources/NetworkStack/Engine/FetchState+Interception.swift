/// The interceptors of one function, which run around an attempt. While they run, no hop may be under way: before they ask for one,
/// and after they got what it came to.
extension FetchState {
    /// What runs around the attempt under way.
    struct Intercepting {
        let interception: Interception
        /// Whether it waits for what its request comes to.
        var isWaiting = false
    }

    /// What the interceptors have come to an end in.
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
    mutating func ask(_ interception: Interception) -> Bool {
        guard intercepting?.interception === interception else { return false }
        intercepting?.isWaiting = true
        return true
    }

    /// Whether they wait for what their request comes to.
    func awaits(_ interception: Interception) -> Bool {
        intercepting?.interception === interception && intercepting?.isWaiting == true
    }

    /// Takes those that wait for what the attempt comes to, or for the head of its stream.
    mutating func takeWaiting() -> Interception? {
        guard intercepting?.isWaiting == true else { return nil }
        intercepting?.isWaiting = false
        return intercepting?.interception
    }

    /// They have come to an end. Returns `nil` if their attempt is over.
    mutating func end(_ interception: Interception) -> Intercepted? {
        guard intercepting?.interception === interception else { return nil }
        intercepting = nil
        switch stage {
        case .opening, .openingLate: return .opening
        default: return .attempt
        }
    }

    /// The body of a stream is not wanted while they run: they replace it. Returns what to release, or `nil` if they do not run.
    mutating func leaveStream() -> HeldResources? {
        guard intercepting != nil, case .opening = stage else { return nil }
        return HeldResources(stage: exchange(&stage, with: .openingLate(isReported: false)))
    }
}
