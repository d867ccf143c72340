internal import Dispatch

/// Where delayed retries wait.
enum RetryTimer: Sendable {
    case queue(DispatchQueue)
    case clock(any Clock<Duration>)

    /// Has work done after a delay, or at once if the clock fails.
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
                // After a cancel there is no work left.
                try? await clock.sleep(for: delay)
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
