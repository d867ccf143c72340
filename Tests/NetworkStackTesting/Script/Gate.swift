import NetworkStack

/// A door that is closed until somebody opens it, once and for good.
///
/// A test opens it to let a script go on (`Step.wait(for:)`), or a script opens it (`Step.open(_:)`) to tell the test
/// how far it has come: what a sleep would only guess.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [ObjectIdentifier: Wakeup] = [:]
    }
    private let state = Lock(State())

    /// A closed gate.
    public init() {}

    /// Whether the gate has been opened.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Opens the gate and wakes everyone who waits for it.
    ///
    /// Later calls do nothing.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            return Array(state.waiting.values)
        }
        for wakeup in waiting { wakeup.signal() }
    }

    /// Returns once the gate is open; throws `WaitTimedOut` when it stays closed for `limit`, or `CancellationError`.
    public func opened(within limit: Duration = .seconds(10)) async throws {
        let deadline = ContinuousClock.now + limit
        while !isOpen {
            guard ContinuousClock.now < deadline else {
                throw WaitTimedOut(limit: limit, seen: "a gate that stayed closed")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Signals `wakeup` when the gate opens; at once when it already is, so that no opening is missed.
    func register(_ wakeup: Wakeup) {
        let isOpen = state.withLock { state in
            state.waiting[ObjectIdentifier(wakeup)] = wakeup
            return state.isOpen
        }
        if isOpen { wakeup.signal() }
    }

    func unregister(_ wakeup: Wakeup) {
        // The dropped reference leaves the lock first: its deinit closes a descriptor.
        _ = state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(wakeup)) }
    }
}
