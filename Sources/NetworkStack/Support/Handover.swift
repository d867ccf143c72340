internal import Dispatch

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// One value handed from any thread to one waiting task.
///
/// The value travels inside a lock and the continuation is resumed with nothing: a payload that rides through a
/// continuation from a foreign thread is reported as a race by ThreadSanitizer, and this form is also the cheapest.
@usableFromInline
package struct Handover<Value: Sendable>: Sendable {
    @safe
    @usableFromInline
    enum Stage: ~Copyable {
        case empty
        case waiting(Waiter)
        /// Besides, the others who are to be resumed together with the one who waited.
        case filled(Value, beside: ResumeBatch.Waiters?)
        case taken
    }

    @usableFromInline let stage: Lock<Stage>

    /// Makes an empty handover.
    @inlinable
    package init() { stage = Lock(.empty) }

    /// Hands the value over. Only the first call counts.
    @inlinable
    package func fill(_ value: Value) {
        let batch = ResumeBatch.current
        let waiter: Waiter? = stage.withLock { stage in
            switch exchange(&stage, with: .taken) {
            case .empty:
                stage = .filled(value, beside: nil)
                return nil
            case .waiting(let waiter):
                stage = .filled(value, beside: batch?.others)
                return waiter
            case .filled(let first, let others):
                stage = .filled(first, beside: others)
                return nil
            case .taken:
                return nil
            }
        }
        guard let waiter else { return }
        if let batch { batch.add(waiter) } else { waiter.resume() }
    }

    /// Waits for the value, and takes it. Only one task may wait, once.
    @inlinable
    package func take() async -> Value {
        await wait()
        return takeFilled()
    }

    /// Waits for the value.
    @inlinable
    func wait() async {
        let priority = Task.currentPriority
        unsafe await withUnsafeContinuation { continuation in
            let isReady = stage.withLock { stage in
                switch stage {
                case .empty: break
                default: return true
                }
                stage = .waiting(unsafe Waiter(continuation, priority: priority))
                return false
            }
            if isReady { unsafe continuation.resume() }
        }
    }

    /// Takes the value that is there.
    @inlinable
    func takeFilled() -> Value {
        switch stage.withLock({ stage in exchange(&stage, with: .taken) }) {
        case .filled(let value, let others):
            others?.resumeAll()
            return value
        default: preconditionFailure("a handover is taken once")
        }
    }
}

extension Handover {
    /// Waits for what a fetch comes to. Cancelling the task cancels the fetch.
    ///
    /// - Parameter fetch: Begins the fetch, given its completion.
    /// - Returns: What the completion was given.
    @inlinable
    static func result(of fetch: (@escaping @Sendable (Value) -> Void) -> any Cancelable) async -> Value {
        let handover = Handover()
        let fetching =
            Task.isCancelled
            ? CancelledBefore.begin { fetch { handover.fill($0) } } : fetch { handover.fill($0) }
        // The value does not pass through the operation, which would copy it by asking its type.
        await withTaskCancellationHandler {
            await handover.wait()
        } onCancel: {
            fetching.cancel()
        }
        return handover.takeFilled()
    }

    /// Waits for what some work comes to. Cancelling the task cancels the work, and ends the wait with a `CancellationError`.
    ///
    /// - Parameter work: Begins the work, given what takes its outcome.
    /// - Returns: What the work came to.
    /// - Throws: What the work failed with, or `CancellationError`.
    static func value<Outcome>(
        of work: (@escaping @Sendable (Value) -> any Cancelable) -> any Cancelable
    ) async throws -> Outcome where Value == Result<Outcome, any Error> {
        let handover = Handover()
        let bag = CancelableBag()
        return try await withTaskCancellationHandler {
            bag += work { outcome in
                handover.fill(outcome)
                return EmptyCancelable()
            }
            return await handover.take()
        } onCancel: {
            bag.cancel()
            handover.fill(.failure(CancellationError()))
        }
        .get()
    }
}

/// A task that waits.
@usableFromInline
@safe
package struct Waiter: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>
    /// By its number: the compiler knows how much room that takes, and need not ask while it runs.
    fileprivate let priority: UInt8

    @usableFromInline
    init(_ continuation: UnsafeContinuation<Void, Never>, priority: TaskPriority) {
        unsafe self.continuation = continuation
        self.priority = priority.rawValue
    }

    @usableFromInline
    func resume() { unsafe continuation.resume() }
}

/// What a thread has ended the waits of, resumed together, and the calls it has others make: a thread that ends many fetches in
/// one turn of its loop wakes those who go on once, and not once for each.
@usableFromInline
package final class ResumeBatch {
    /// Those who are to be resumed. Who is resumed first resumes the others before it goes on: it runs on a thread of their
    /// pool, and whichever of these is asleep would be woken for each that is resumed from elsewhere.
    @usableFromInline
    struct Waiters: Sendable {
        /// The next one last.
        private let remaining = Lock<[Waiter]>([])

        /// Takes them all, without copying any.
        fileprivate func take(_ waiters: inout [Waiter]) {
            waiters.reverse()
            remaining.withLock { swap(&$0, &waiters) }
        }

        /// One after the other, whoever else does.
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

    /// Calls on one queue, made by one of its threads after the other, and by as many at a time as it has to give: none waits for
    /// another that takes long.
    private struct Calls: Sendable {
        let queue: DispatchQueue
        /// The next one last.
        private let remaining = Lock<[Call]>([])

        init(_ calls: consuming [Call]) {
            queue = calls[0].queue
            calls.reverse()
            remaining.withLock { swap(&$0, &calls) }
        }

        func begin() { queue.async { self.makeAll() } }

        private func makeAll() {
            var isHelped = false
            while makeNext(isHelped: &isHelped) {}
        }

        /// Makes the next call, and lets go of what it holds.
        ///
        /// - Returns: Whether there was one.
        private func makeNext(isHelped: inout Bool) -> Bool {
            let (next, isLast) = remaining.withLock { ($0.popLast(), $0.isEmpty) }
            guard let next else { return false }
            // By another thread, which makes the others while this one cannot.
            if !isLast, !isHelped { begin() }
            isHelped = true
            next.make()
            return true
        }
    }

    /// Those whose wait has ended since the last were resumed; and where they will be when they are.
    private var waiting: [Waiter] = []
    private var waiters = Waiters()
    private var calls: [Call] = []
    /// Read alone, without a check for exclusivity: most turns end nothing.
    private var isEmpty = true

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// Makes an empty batch.
    package init() {}

    /// From now on, the waits that end on this thread go into this batch.
    package func begin() { unsafe pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque()) }

    /// Resumes what waits, and leaves this thread as it was before ``begin()``.
    package func end() {
        resumeAll()
        pthread_setspecific(Self.key, nil)
    }

    /// Resumes what waits, and has the calls made. None waits for another's queue, nor for the threads of tasks.
    package func resumeAll() {
        if isEmpty { return }
        isEmpty = true
        if !calls.isEmpty { makeCalls() }
        guard waiting.count > 1 else {
            waiting.popLast()?.resume()
            return
        }
        let waiters = waiters
        self.waiters = Waiters()
        let priority = waiting.lazy.map(\.priority).max()
        waiters.take(&waiting)
        // A task of their own priority, which they follow on the same threads, resumes those whom nobody else has.
        Task(priority: priority.map { TaskPriority(rawValue: $0) }) { waiters.resumeAll() }
    }

    private func makeCalls() {
        let calls = exchange(&calls, with: [])
        let first = calls[0]
        guard calls.count > 1 else { return first.queue.async(execute: first.make) }
        if calls.allSatisfy({ $0.queue === first.queue }) { return Calls(calls).begin() }
        for (_, calls) in Dictionary(grouping: calls, by: { ObjectIdentifier($0.queue) }) { Calls(calls).begin() }
    }

    /// The batch of this thread.
    @usableFromInline
    static var current: ResumeBatch? {
        unsafe pthread_getspecific(key).map { unsafe Unmanaged<ResumeBatch>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Where all are who are resumed with the next one added.
    @usableFromInline var others: Waiters { waiters }

    @usableFromInline
    func add(_ waiter: Waiter) {
        isEmpty = false
        Self.append(waiter, to: &waiting)
    }

    /// In one change, which is checked for exclusivity once.
    private static func append(_ waiter: Waiter, to waiting: inout [Waiter]) {
        if waiting.isEmpty { waiting.reserveCapacity(16) }
        waiting.append(waiter)
    }

    /// Calls on a queue; from a thread that has a batch, together with what else it has ended.
    static func call(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        guard let batch = current else { return queue.async(execute: work) }
        batch.isEmpty = false
        batch.calls.append(Call(queue: queue, make: work))
    }
}
