import Glibc
import NetworkStack

/// A thread that can be joined, with SIGPIPE blocked, so that a write to a dead peer is an error and no signal.
final class WorkerThread: Sendable {
    private let identity: pthread_t
    private let isJoined = Lock(false)

    /// Starts `body`.
    ///
    /// Throws `SystemCallError` when the process may not have another thread.
    init(_ body: @escaping @Sendable () -> Void) throws {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        // Hundreds of connections need hundreds of threads: half a megabyte of stack each instead of eight.
        pthread_attr_setstacksize(&attributes, 512 * 1024)
        let box = Unmanaged.passRetained(Body(run: body))
        var identity = pthread_t()
        let code = pthread_create(
            &identity,
            &attributes,
            { raw in
                guard let raw else { return nil }
                let body = Unmanaged<Body>.fromOpaque(raw).takeRetainedValue()
                var pipe = sigset_t()
                sigemptyset(&pipe)
                sigaddset(&pipe, SIGPIPE)
                pthread_sigmask(SIG_BLOCK, &pipe, nil)
                body.run()
                return nil
            },
            box.toOpaque()
        )
        guard code == 0 else {
            box.release()
            throw SystemCallError("pthread_create", code: code)
        }
        self.identity = identity
    }

    deinit { join() }

    /// Waits for the end of the thread. On the thread itself it returns at once.
    func join() {
        let isFirst = isJoined.withLock { joined in
            defer { joined = true }
            return !joined
        }
        guard isFirst else { return }
        if pthread_equal(identity, pthread_self()) != 0 {
            pthread_detach(identity)
        } else {
            pthread_join(identity, nil)
        }
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
