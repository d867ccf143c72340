package import Dispatch

/// Where delayed retries wait.
enum RetryTimer: Sendable {
    case queue(DispatchQueue)
    case clock(any Clock<Duration>)

    /// Has work done after a delay.
    ///
    /// - Returns: Drops the work if it has not begun.
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancelable {
        let delayed = DelayedWork(work)
        switch self {
        case .queue(let queue):
            // What the queue still holds after a cancel is an empty shell.
            queue.asyncAfter(deadline: .now() + delay.dispatchInterval) { delayed.run() }
        case .clock(let clock):
            let task = Task {
                do { try await clock.sleep(for: delay) } catch { return }
                delayed.run()
            }
            delayed.task.withLock { $0 = task }
        }
        return delayed
    }
}

/// Work that runs once, or never.
private final class DelayedWork: Cancelable {
    private let work: Lock<(@Sendable () -> Void)?>
    let task = Lock<Task<Void, Never>?>(nil)

    init(_ work: @escaping @Sendable () -> Void) { self.work = Lock(work) }

    func run() { work.withLock { $0.take() }?() }

    func cancel() {
        _ = work.withLock { $0.take() }
        task.withLock { $0 }?.cancel()
    }
}

extension Duration {
    /// Seconds, and what is left in attoseconds. A duration may be longer than its `components` can tell, which trap then; here
    /// it is as long as no clock runs.
    package var parts: (seconds: Int64, attoseconds: Int64) {
        let longest = Duration.seconds(1 << 62)
        return min(max(self, .zero - longest), longest).components
    }

    /// The same for a queue, rounded up: nothing is ever early. What is not longer than zero is now, and what is beyond 68 years
    /// never comes.
    package var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = max(self, .zero).parts
        guard seconds < 1 << 31 else { return .never }
        return .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000) + 1)
    }
}
