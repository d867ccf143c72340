#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A value that only one thread at a time can reach.
///
/// It rests on a pthread mutex because ThreadSanitizer on current Linux toolchains reports false races with
/// `Synchronization.Mutex`. The state and the mutex share one allocation.
@safe
package final class Lock<State>: @unchecked Sendable {
    // Unchecked because the compiler cannot see that `state` is touched only between lock and unlock.

    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Makes an unlocked lock around a first state.
    package init(_ state: State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the state, alone. It must not call back into the same lock and should not call foreign code.
    @inline(__always)
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}

/// One value handed from any thread to one waiting task.
///
/// The value travels inside a lock and the continuation is resumed with nothing: a payload that rides through a
/// continuation from a foreign thread is reported as a race by ThreadSanitizer, and this form is also the cheapest.
package final class Handover<Value: Sendable>: Sendable {
    @safe
    private enum Stage {
        case empty
        case waiting(UnsafeContinuation<Void, Never>)
        case filled(Value)
        case taken
    }

    private let stage = Lock<Stage>(.empty)

    /// Makes an empty handover.
    package init() {}

    /// Hands the value over. Only the first call counts.
    package func fill(_ value: Value) {
        let waiter: UnsafeContinuation<Void, Never>? = unsafe stage.withLock { stage in
            switch stage {
            case .empty:
                stage = .filled(value)
                return nil
            case .waiting(let continuation):
                stage = .filled(value)
                return unsafe continuation
            case .filled, .taken:
                return nil
            }
        }
        unsafe waiter?.resume()
    }

    /// Waits for the value. Only one task may wait, once.
    package func take() async -> Value? {
        unsafe await withUnsafeContinuation { continuation in
            let isReady = stage.withLock { stage in
                guard case .empty = stage else { return true }
                unsafe stage = .waiting(continuation)
                return false
            }
            if isReady { unsafe continuation.resume() }
        }
        return stage.withLock { stage in
            guard case .filled(let value) = stage else { return nil }
            stage = .taken
            return value
        }
    }
}
