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
    enum Stage {
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
            switch stage {
            case .empty:
                stage = .filled(value, beside: nil)
                return nil
            case .waiting(let waiter):
                stage = .filled(value, beside: batch?.waiters)
                return waiter
            case .filled, .taken:
                return nil
            }
        }
        guard let waiter else { return }
        if let batch { batch.add(waiter) } else { waiter.resume() }
    }

    /// Waits for the value. Only one task may wait, once.
    @inlinable
    package func take() async -> Value? {
        let priority = Task.currentPriority
        unsafe await withUnsafeContinuation { continuation in
            let isReady = stage.withLock { stage in
                guard case .empty = stage else { return true }
                stage = unsafe .waiting(Waiter(continuation, priority: priority))
                return false
            }
            if isReady { unsafe continuation.resume() }
        }
        let last = stage.withLock { stage in exchange(&stage, with: .taken) }
        guard case .filled(let value, let others) = last else { return nil }
        others?.resumeAll()
        return value
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
        let fetching = fetch { handover.fill($0) }
        let result = await withTaskCancellationHandler {
            await handover.take()
        } onCancel: {
            fetching.cancel()
        }
        guard let result else { preconditionFailure("a stack completed a fetch without a result") }
        return result
    }
}

/// A task that waits.
@usableFromInline
@safe
package struct Waiter: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>
    let priority: TaskPriority

    @usableFromInline
    init(_ continuation: UnsafeContinuation<Void, Never>, priority: TaskPriority) {
        unsafe self.continuation = continuation
        self.priority = priority
    }

    @usableFromInline
    func resume() { unsafe continuation.resume() }
}

/// Tasks whose wait a thread has ended, resumed together: a thread that ends many waits in one turn of its loop wakes the
/// tasks' threads once, and not once for each.
@usableFromInline
package final class ResumeBatch {
    /// Those who are to be resumed. Who is resumed first resumes the others before it goes on: it runs on a thread of the
    /// tasks', and whoever of these is asleep would be woken for each task that is resumed from elsewhere.
    @usableFromInline
    struct Waiters: Sendable {
        /// The next one last.
        private let remaining = Lock<[Waiter]>([])

        fileprivate func fill(_ waiters: [Waiter]) { remaining.withLock { $0 = waiters.reversed() } }

        /// One after the other, whoever else does.
        @usableFromInline
        func resumeAll() {
            while let waiter = remaining.withLock({ $0.popLast() }) { waiter.resume() }
        }
    }

    /// Those whose wait has ended since the last were resumed; and where they will be when they are.
    private var waiting: [Waiter] = []
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

    /// Resumes what waits. Many are resumed by a task of their own priority, which they follow on the same threads.
    package func resumeAll() {
        guard waiting.count > 1, let priority = waiting.lazy.map(\.priority).max() else {
            waiting.popLast()?.resume()
            return
        }
        let waiters = waiters
        waiters.fill(waiting)
        waiting.removeAll(keepingCapacity: true)
        self.waiters = Waiters()
        Task(priority: priority) { waiters.resumeAll() }
    }

    /// The batch of this thread.
    @usableFromInline
    static var current: ResumeBatch? {
        unsafe pthread_getspecific(key).map { unsafe Unmanaged<ResumeBatch>.fromOpaque($0).takeUnretainedValue() }
    }

    @usableFromInline
    func add(_ waiter: Waiter) { waiting.append(waiter) }
}
