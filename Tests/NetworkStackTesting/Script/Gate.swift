import NetworkStack

/// A gate that is closed until it is opened; it stays open.
///
/// A test opens it to resume a script (`Step.wait(for:)`), or a script opens it (`Step.open(_:)`) to show the test how far it is.
/// It replaces sleeps.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [ObjectIdentifier: Wakeup] = [:]
    }
    private let state = Lock(State())

    /// Makes a closed gate.
    public init() {}

    /// Whether the gate has been opened.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Opens the gate and resumes everything that waits for it.
    ///
    /// Later calls do nothing.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            return Array(state.waiting.values)
        }
        for wakeup in waiting { wakeup.signal() }
    }

    /// Returns once the gate is open; throws `WaitTimedOut` if it stays closed for `limit`, or `CancellationError`.
    public func opened(within limit: Duration = .seconds(10)) async throws {
        let deadline = ContinuousClock.now + limit
        while !isOpen {
            guard ContinuousClock.now < deadline else {
                throw WaitTimedOut(limit: limit, seen: "a gate that stayed closed")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Signals `wakeup` when the gate opens, at once if it is open already.
    func register(_ wakeup: Wakeup) {
        let isOpen = state.withLock { state in
            state.waiting[ObjectIdentifier(wakeup)] = wakeup
            return state.isOpen
        }
        if isOpen { wakeup.signal() }
    }

    func unregister(_ wakeup: Wakeup) {
        // Released outside the lock, because its deinit closes a descriptor.
        _ = state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(wakeup)) }
    }
}
