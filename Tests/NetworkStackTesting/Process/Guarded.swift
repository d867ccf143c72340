import Glibc

/// State behind a pthread mutex.
///
/// Not `Synchronization.Mutex`: ThreadSanitizer of this toolchain does not see its lock and reports false races.
final class Guarded<State>: @unchecked Sendable {  // unchecked: every access to `state` holds `mutex`
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var state: State

    init(_ state: State) {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        self.state = state
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` alone with the state.
    ///
    /// `body` must not come back for the same lock.
    func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
