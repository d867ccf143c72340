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
                stage = .filled(value, beside: batch?.waiters)
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

/// A task that waits, or a call that is to be made.
@usableFromInline
@safe
package struct Waiter: Sendable {
    @safe
    private enum Kind {
        // The priority by its number: the compiler knows how much room that takes, and need not ask while it runs.
        case task(UnsafeContinuation<Void, Never>, priority: UInt8)
        case call(DispatchQueue, @Sendable () -> Void, beside: ResumeBatch.Waiters)
    }

    private let kind: Kind

    @usableFromInline
    init(_ continuation: UnsafeContinuation<Void, Never>, priority: TaskPriority) {
        kind = unsafe .task(continuation, priority: priority.rawValue)
    }

    init(_ queue: DispatchQueue, _ work: @escaping @Sendable () -> Void, beside waiters: ResumeBatch.Waiters) {
        kind = .call(queue, work, beside: waiters)
    }

    /// The queue, if it is a call.
    fileprivate var queue: ObjectIdentifier? {
        if case .call(let queue, _, _) = kind { ObjectIdentifier(queue) } else { nil }
    }

    /// A call that resumes these others first; a task stays as it is.
    fileprivate func beside(_ waiters: ResumeBatch.Waiters) -> Waiter {
        guard case .call(let queue, let work, _) = kind else { return self }
        return Waiter(queue, work, beside: waiters)
    }

    /// The number of its priority, if it is a task.
    fileprivate var priority: UInt8? {
        if case .task(_, let priority) = kind { priority } else { nil }
    }

    @usableFromInline
    func resume() {
        switch kind {
        case .task(let continuation, _): unsafe continuation.resume()
        case .call(let queue, let work, let others):
            queue.async {
                others.resumeAll()
                work()
            }
        }
    }
}

/// What a thread has ended the waits of, resumed together: a thread that ends many waits in one turn of its loop wakes those
/// who go on once, and not once for each.
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

        fileprivate func resumeNext() { remaining.withLock { $0.popLast() }?.resume() }

        /// One after the other, whoever else does.
        @usableFromInline
        func resumeAll() {
            while let waiter = remaining.withLock({ $0.popLast() }) { waiter.resume() }
        }
    }

    /// Those whose wait has ended since the last were resumed; and where they will be when they are.
    private var waiting: [Waiter] = []
    /// The queue that all of them are calls on, if they are.
    private var queue: ObjectIdentifier?
    private var hasCalls = false
    @usableFromInline private(set) var waiters = Waiters()

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

    /// Resumes what waits. Calls on one queue begin with the first of them. Others must not wait for each other's queues, nor for
    /// the threads of tasks, so a task of their own priority, which they follow on the same threads, resumes the tasks that nobody
    /// else has.
    package func resumeAll() {
        if hasCalls, queue == nil { callAll() }
        guard waiting.count > 1 else {
            waiting.popLast()?.resume()
            return
        }
        let waiters = waiters
        self.waiters = Waiters()
        guard queue == nil else {
            waiters.take(&waiting)
            return waiters.resumeNext()
        }
        let priority = waiting.lazy.compactMap(\.priority).max()
        waiters.take(&waiting)
        Task(priority: priority.map { TaskPriority(rawValue: $0) }) { waiters.resumeAll() }
    }

    /// Begins the calls, queue by queue, and leaves the tasks.
    private func callAll() {
        for (queue, calls) in Dictionary(grouping: waiting, by: \.queue) where queue != nil {
            let waiters = Waiters()
            var calls = calls.map { $0.beside(waiters) }
            waiters.take(&calls)
            waiters.resumeNext()
        }
        waiting.removeAll { $0.queue != nil }
    }

    /// The batch of this thread.
    @usableFromInline
    static var current: ResumeBatch? {
        unsafe pthread_getspecific(key).map { unsafe Unmanaged<ResumeBatch>.fromOpaque($0).takeUnretainedValue() }
    }

    @usableFromInline
    func add(_ waiter: Waiter) { add(waiter, on: nil) }

    private func add(_ waiter: Waiter, on queue: ObjectIdentifier?) {
        if waiting.isEmpty {
            waiting.reserveCapacity(16)
            (self.queue, hasCalls) = (queue, false)
        } else if queue != self.queue {
            self.queue = nil
        }
        if queue != nil { hasCalls = true }
        waiting.append(waiter)
    }

    /// Calls on a queue; from a thread that has a batch, together with what else it has ended.
    static func call(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        guard let batch = current else { return queue.async(execute: work) }
        batch.add(Waiter(queue, work, beside: batch.waiters), on: ObjectIdentifier(queue))
    }
}
