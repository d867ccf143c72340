/// An event that happens once. Any number of tasks may wait for it.
package struct AsyncEvent: Sendable {
    private struct State {
        var hasFired = false
        var waiters: [OneShot<Void>] = []
    }

    private let state = Lock(State())

    /// Makes an event that has not happened.
    package init() {}

    /// Whether it has happened.
    package var hasFired: Bool { state.withLock { $0.hasFired } }

    /// The event happens: resumes every task that waits.
    package func fire() {
        let waiters = state.withLock { state in
            state.hasFired = true
            return exchange(&state.waiters, with: [])
        }
        for waiter in waiters { waiter.fill(()) }
    }

    /// Waits until the event has happened.
    package func wait() async {
        let waiter = OneShot<Void>()
        let hasFired = state.withLock { state in
            if !state.hasFired { state.waiters.append(waiter) }
            return state.hasFired
        }
        if !hasFired { await waiter.take() }
    }
}
