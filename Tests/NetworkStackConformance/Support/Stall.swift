import Glibc
import NetworkStack

/// How long the machine delayed this process during a measurement; a timeout may be late by that much.
///
/// A task sleeps in short steps and notes the longest delay. Make it before the measurement, and read it afterwards.
final class Stall: Sendable {
    private struct State {
        var longest = Duration.zero
        var asleepSince = ContinuousClock.now
    }

    private static let step = Duration.milliseconds(5)
    private let state: Lock<State>
    private let task: Task<Void, Never>
    private let waits = ProcessorWait()

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

    /// The longest delay so far, including a current one.
    var longest: Duration {
        state.withLock { max($0.longest, .now - $0.asleepSince - Self.step, .zero) }
    }

    /// How late an event may be observed: several threads need a processor for it, one after the other.
    var allowance: Duration { longest * 4 }

    /// ``allowance``, or the longest time that a thread waited for a processor or a processor for its host, if that is longer. It is
    /// for short measurements: on a busy machine, a thread that computes all the time waits longer and longer.
    var fullAllowance: Duration { max(allowance, waits.longestSince) * Self.slowdown }

    /// How late a chain of events may be: every thread that takes part may wait for a processor, one after the other.
    var chainAllowance: Duration { max(fullAllowance, waits.totalSince * Self.slowdown) }

    /// How many times slower than usual this process is, because of a sanitizer (`SLOWDOWN` of the environment).
    static let slowdown = getenv("SLOWDOWN").flatMap { Int(String(cString: $0)) } ?? 1
}
