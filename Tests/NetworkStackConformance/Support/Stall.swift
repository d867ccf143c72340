import NetworkStack

/// How long the machine held this process up while a check measured something: a clock may be late by so much more.
///
/// A task sleeps in short steps and notes the longest delay beyond them. Make one before the measurement, and ask it after.
final class Stall: Sendable {
    private struct State {
        var longest = Duration.zero
        var asleepSince = ContinuousClock.now
    }

    private static let step = Duration.milliseconds(5)
    private let state: Lock<State>
    private let task: Task<Void, Never>

    init() {
        let state = Lock(State())
        self.state = state
        task = Task.detached {
            while !Task.isCancelled {
                state.withLock { $0.asleepSince = .now }
                try? await Task.sleep(for: Self.step)
                state.withLock { $0.longest = max($0.longest, .now - $0.asleepSince - Self.step) }
            }
        }
    }

    deinit { task.cancel() }

    /// The longest delay so far, one that goes on included.
    var longest: Duration {
        state.withLock { max($0.longest, .now - $0.asleepSince - Self.step, .zero) }
    }

    /// How late an event may be seen: several threads, one after the other, have to get their turn for it.
    var allowance: Duration { longest * 4 }
}
