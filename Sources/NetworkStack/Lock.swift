#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#else
    public import Darwin
#endif

/// A value that only one thread at a time can reach.
///
/// It rests on a pthread mutex because ThreadSanitizer on current Linux toolchains reports false races with
/// `Synchronization.Mutex`. The state and the mutex share one allocation, and every use is inlined where it stands: a fetch
/// passes some twenty locks.
@usableFromInline
package struct Lock<State>: @unchecked Sendable {
    // Unchecked because the compiler cannot see that the state is touched only between lock and unlock.

    @usableFromInline let buffer: LockBuffer<State>

    /// Makes an unlocked lock around a first state, which is made in its place.
    @inlinable
    package init(_ state: @autoclosure () -> State) {
        let made = LockBuffer<State>.create(minimumCapacity: 1) { _ in LockMutex() }
        buffer = unsafe unsafeDowncast(made, to: LockBuffer<State>.self)
        unsafe buffer.withUnsafeMutablePointers { mutex, place in
            unsafe LockMutex.create(mutex)
            unsafe place.initialize(to: state())
        }
    }

    /// Runs `body` with the state, alone. It must not call back into the same lock and should not call foreign code.
    @inlinable
    @inline(__always)
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        try unsafe buffer.withUnsafeMutablePointers { (mutex, state) throws(Failure) in
            unsafe LockMutex.lock(mutex)
            defer { unsafe LockMutex.unlock(mutex) }
            return try unsafe body(&state.pointee)
        }
    }
}

/// What a lock's copies share.
@usableFromInline
package final class LockBuffer<State>: ManagedBuffer<LockMutex, State> {
    @inlinable
    deinit {
        unsafe withUnsafeMutablePointers { mutex, state in
            unsafe state.deinitialize(count: 1)
            unsafe LockMutex.destroy(mutex)
        }
    }
}

/// The mutex of a lock. It is used where it lies, by its address, and never copied: locking it is no change of a Swift
/// variable, which two threads may not make at once.
@usableFromInline
@safe
package struct LockMutex {
    @usableFromInline typealias Place = UnsafeMutablePointer<LockMutex>

    @usableFromInline var mutex = unsafe pthread_mutex_t()

    @inlinable
    init() {}

    @inlinable
    static func create(_ place: Place) { unsafe pthread_mutex_init(address(at: place), nil) }

    @inlinable
    static func lock(_ place: Place) { unsafe pthread_mutex_lock(address(at: place)) }

    @inlinable
    static func unlock(_ place: Place) { unsafe pthread_mutex_unlock(address(at: place)) }

    @inlinable
    static func destroy(_ place: Place) { unsafe pthread_mutex_destroy(address(at: place)) }

    @inlinable
    static func address(at place: Place) -> UnsafeMutablePointer<pthread_mutex_t> {
        unsafe UnsafeMutableRawPointer(place).assumingMemoryBound(to: pthread_mutex_t.self)
    }
}

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
        case filled(Value)
        case taken
    }

    @usableFromInline let stage: Lock<Stage>

    /// Makes an empty handover.
    @inlinable
    package init() { stage = Lock(.empty) }

    /// Hands the value over. Only the first call counts.
    @inlinable
    package func fill(_ value: Value) {
        let waiter: Waiter? = stage.withLock { stage in
            switch stage {
            case .empty:
                stage = .filled(value)
                return nil
            case .waiting(let waiter):
                stage = .filled(value)
                return waiter
            case .filled, .taken:
                return nil
            }
        }
        if let waiter { ResumeBatch.resume(waiter) }
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
        guard case .filled(let value) = last else { return nil }
        return value
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

    func resume() { unsafe continuation.resume() }
}

/// Tasks whose wait a thread has ended, resumed together: a thread that ends many waits in one turn of its loop wakes the
/// tasks' threads once, and not once for each.
@usableFromInline
package final class ResumeBatch {
    private var waiters: [Waiter] = []

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
        guard waiters.count > 1, let priority = waiters.lazy.map(\.priority).max() else {
            waiters.popLast()?.resume()
            return
        }
        let all = waiters
        waiters = []
        Task(priority: priority) { for waiter in all { waiter.resume() } }
    }

    /// Resumes a task, or has it wait for its thread's batch.
    @usableFromInline
    static func resume(_ waiter: Waiter) {
        guard let batch = unsafe pthread_getspecific(key) else { return waiter.resume() }
        unsafe Unmanaged<ResumeBatch>.fromOpaque(batch)._withUnsafeGuaranteedRef { $0.waiters.append(waiter) }
    }
}
