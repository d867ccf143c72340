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
package struct Lock<State: ~Copyable>: @unchecked Sendable {
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

    /// Runs `body` with the state, one caller at a time. It must not call back into the same lock and should not call foreign code.
    @inlinable
    @inline(__always)
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe buffer.withUnsafeMutablePointers { (mutex, state) throws(Failure) in
            unsafe LockMutex.lock(mutex)
            defer { unsafe LockMutex.unlock(mutex) }
            return try unsafe body(&state.pointee)
        }
    }
}

/// What a lock's copies share.
@usableFromInline
package final class LockBuffer<State: ~Copyable>: ManagedBuffer<LockMutex, State> {
    @inlinable
    deinit {
        unsafe withUnsafeMutablePointers { mutex, state in
            unsafe state.deinitialize(count: 1)
            unsafe LockMutex.destroy(mutex)
        }
    }
}

/// The mutex of a lock. It is used in place, by address, and never copied, because locking a Swift variable from two threads would
/// be an exclusivity violation.
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
