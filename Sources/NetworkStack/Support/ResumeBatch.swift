internal import Dispatch
private import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Collects the tasks and calls that a thread completes in one turn, and resumes them together, so that pool threads are woken
/// once. Work from other threads runs at once.
@usableFromInline
package final class ResumeBatch: Sendable {
    /// The tasks to resume. The first one resumes the others before it continues: it runs on a thread of their
    /// pool, and whichever of these is asleep would be woken for each that is resumed from elsewhere.
    @usableFromInline
    struct Waiters: Sendable {
        /// The next one last.
        private let remaining = Lock<[Waiter]>([])

        fileprivate func take(_ waiters: [Waiter]) { remaining.withLock { $0 = waiters.reversed() } }

        /// Resumes tasks one after the other, also while others do.
        @usableFromInline
        func resumeAll() {
            while let waiter = remaining.withLock({ $0.popLast() }) { waiter.resume() }
        }
    }

    /// A call, and where it is made. In a list by itself, a closure is wrapped in another.
    private struct Call {
        let queue: DispatchQueue
        let make: @Sendable () -> Void
    }

    private struct State {
        /// The thread of the batch, while it has one.
        var thread: pthread_t?
        var waiting: [Waiter] = []
        /// Where the waiting tasks are when they are resumed.
        var waiters = Waiters()
        var calls: [Call] = []

        var isOnThread: Bool { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    private let state = Lock(State())
    /// Read without the lock: most turns end nothing.
    private let isEmpty = Atomic(true)

    /// Makes an empty batch.
    package init() {}

    /// This thread's waits are collected from now on.
    package func begin() { state.withLock { $0.thread = pthread_self() } }

    /// Resumes what waits, and collects nothing any more.
    package func end() {
        resumeAll()
        state.withLock { $0.thread = nil }
    }

    /// Resumes what waits, and has the calls made. None waits for another's queue, nor for the threads of tasks.
    package func resumeAll() {
        if isEmpty.exchange(true, ordering: .relaxed) { return }
        var (calls, waiting): ([Call], [Waiter]) = ([], [])
        let waiters = state.withLock { state in
            swap(&calls, &state.calls)
            swap(&waiting, &state.waiting)
            defer { if waiting.count > 1 { state.waiters = Waiters() } }
            return state.waiters
        }
        if !calls.isEmpty { Self.make(calls) }
        guard waiting.count > 1 else {
            waiting.first?.resume()
            return
        }
        let priority = waiting.lazy.map(\.priority).max()
        waiters.take(waiting)
        // A task of the same priority, which they follow on the same threads, resumes those that are left.
        Task(priority: priority.map { TaskPriority(rawValue: $0) }) { waiters.resumeAll() }
    }

    private static func make(_ calls: [Call]) {
        let first = calls[0]
        guard calls.count > 1 else { return first.queue.async(execute: first.make) }
        let haveOneQueue = calls.allSatisfy { $0.queue === first.queue }
        let groups =
            haveOneQueue ? [calls] : Array(Dictionary(grouping: calls) { ObjectIdentifier($0.queue) }.values)
        for calls in groups {
            let (queue, remaining) = (calls[0].queue, Lock<[Call]>(calls.reversed()))
            queue.async { makeAll(remaining, on: queue) }
        }
    }

    /// Makes the calls of one queue, on as many of its threads as it provides, so that a slow call delays no other.
    private static func makeAll(_ remaining: Lock<[Call]>, on queue: DispatchQueue) {
        var isHelped = false
        while true {
            let (next, isLast) = remaining.withLock { ($0.popLast(), $0.isEmpty) }
            guard let next else { return }
            // Another thread makes the others while this one makes the call.
            if !isLast, !isHelped { queue.async { makeAll(remaining, on: queue) } }
            isHelped = true
            next.make()
        }
    }

    /// Adds a task to be resumed.
    ///
    /// - Returns: Those that are resumed with it, or `nil` if this is not the batch's thread and the caller resumes it.
    @usableFromInline
    func add(_ waiter: Waiter) -> Waiters? {
        state.withLock { state in
            guard state.isOnThread else { return nil }
            isEmpty.store(false, ordering: .relaxed)
            if state.waiting.isEmpty { state.waiting.reserveCapacity(16) }
            state.waiting.append(waiter)
            return state.waiters
        }
    }

    /// Runs work on a queue.
    func run(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        let isAdded = state.withLock { state in
            guard state.isOnThread else { return false }
            isEmpty.store(false, ordering: .relaxed)
            state.calls.append(Call(queue: queue, make: work))
            return true
        }
        if !isAdded { queue.async(execute: work) }
    }
}
