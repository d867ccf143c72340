internal import Glibc
internal import NetworkStack

/// The thread a loop lives on.
final class LoopThread: Sendable {
    /// Takes the loop's commands.
    let mailbox = Mailbox()
    private let end = AsyncEvent()

    /// Starts the thread.
    ///
    /// - Throws: ``Network/ConfigurationError/invalid(_:)`` if the system has no thread or no descriptors to give.
    init(
        configuration: Network.Configuration,
        authorities: Authorities,
        quirks: LibcurlQuirks,
        gates: TrustGates,
        events: EventReporter?
    ) throws(Network.ConfigurationError) {
        guard mailbox.waker.isOpen else {
            throw .invalid("The system has no file descriptors for the stack to wait with.")
        }
        let body = ThreadBody { [mailbox, end] in
            // The program's threads handle signals; this one would get SIGPIPE from a dead TLS connection.
            var signals = sigset_t()
            unsafe sigfillset(&signals)
            unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
            if FreeLists.isEnabled { FreeLists.begin() }
            do {
                var loop = Loop(
                    mailbox: mailbox,
                    configuration: configuration,
                    authorities: authorities,
                    quirks: quirks,
                    gates: gates,
                    events: events
                )
                loop.run()
            }
            FreeLists.end()
            end.fire()
        }
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(body).toOpaque()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            context
        )
        guard result == 0 else {
            unsafe Unmanaged<ThreadBody>.fromOpaque(context).release()
            throw .invalid("The system has no thread for the stack to run on (error \(result)).")
        }
        pthread_detach(thread)
    }

    /// Waits until the loop has ended.
    func ended() async { await end.wait() }

    deinit { mailbox.post(.stop) }
}

/// What the thread runs, as an object, which `pthread_create` can pass on.
private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
