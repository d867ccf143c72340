/// Something that happens once, and that any number of tasks may wait for.
package struct Milestone: Sendable {
    private struct State {
        var isReached = false
        var waiters: [Handover<Void>] = []
    }

    private let state = Lock(State())

    /// Makes one that is still to come.
    package init() {}

    /// Whether it has come.
    package var isReached: Bool { state.withLock { $0.isReached } }

    /// It has come: whoever waits goes on.
    package func reach() {
        let waiters = state.withLock { state in
            state.isReached = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.fill(()) }
    }

    /// Waits until it has come.
    package func wait() async {
        let waiter = Handover<Void>()
        let isReached = state.withLock { state in
            if !state.isReached { state.waiters.append(waiter) }
            return state.isReached
        }
        if !isReached { await waiter.take() }
    }
}
