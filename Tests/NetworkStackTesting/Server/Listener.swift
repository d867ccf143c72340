import Glibc
import NetworkStack

/// The threads of a scripted server: one that accepts, and one per connection.
///
/// It retains itself until `stop()`.
final class Listener: Sendable {
    typealias ScriptSource = @Sendable (_ connectionIndex: Int) -> ScriptedServer.Script

    private struct State {
        var threads: [Int: WorkerThread] = [:]
        /// Connections whose thread is about to end; they are joined, so that its stack is freed.
        var finished: [Int] = []
        var contexts: [TLSIdentity: TLSContext] = [:]
        var acceptor: WorkerThread?
        var isListening = true
    }

    let options: ScriptedServer.Options
    let ledger: Ledger
    let stopGate = Gate()
    let port: UInt16
    private let script: ScriptSource
    private let socket: Lock<LoopbackSocket?>
    private let wakeup: Wakeup
    private let state = Lock(State())

    init(options: ScriptedServer.Options, script: @escaping ScriptSource) throws {
        self.options = options
        self.script = script
        ledger = Ledger(recordLimit: options.recordLimit)
        wakeup = try Wakeup()
        let socket = try LoopbackSocket(options.loopback)
        try socket.bind(port: options.port, reusing: true)
        try socket.listen(backlog: options.backlog)
        port = socket.port
        self.socket = Lock(socket)
        // Invalid files fail here, not at the first client.
        if let identity = options.tls { _ = try context(for: identity) }
    }

    func start() throws {
        guard options.acceptsConnections, let socket = socket.withLock({ $0 }) else { return }
        stopGate.register(wakeup)
        let thread = try WorkerThread { [self] in acceptConnections(socket) }
        state.withLock { $0.acceptor = thread }
    }

    /// Closes the port. Existing connections go on.
    func stopListening() {
        let acceptor = state.withLock { state in
            state.isListening = false
            return state.acceptor
        }
        wakeup.signal()
        acceptor?.join()
        socket.withLock { $0 = nil }
    }

    func stop() {
        stopGate.open()
        state.withLock { $0.acceptor }?.join()
        // The acceptor has ended, so no thread is added.
        let threads = state.withLock { Array($0.threads.values) }
        for thread in threads { thread.join() }
        state.withLock { state in
            state.threads = [:]
            state.finished = []
            state.acceptor = nil
        }
        socket.withLock { $0 = nil }
    }

    private func acceptConnections(_ socket: LoopbackSocket) {
        while !stopGate.isOpen, state.withLock({ $0.isListening }) {
            var entries = [
                pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            poll(&entries, 2, -1)
            wakeup.drain()
            joinFinished()
            while !stopGate.isOpen {
                let descriptor = accept(socket.descriptor, nil, nil)
                if descriptor >= 0 {
                    // Swift cannot call accept4.
                    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
                    serve(descriptor)
                    continue
                }
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                    // The queue stays readable: wait a moment for a descriptor instead of spinning.
                    var entry = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
                    poll(&entry, 1, 5)
                }
                break
            }
        }
    }

    private func joinFinished() {
        let threads = state.withLock { state in
            defer { state.finished = [] }
            return state.finished.compactMap { state.threads.removeValue(forKey: $0) }
        }
        for thread in threads { thread.join() }
    }

    private func serve(_ descriptor: Int32) {
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        for (option, size) in [(SO_RCVBUF, options.receiveBuffer), (SO_SNDBUF, options.sendBuffer)] {
            guard var size else { continue }
            setsockopt(descriptor, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        let index = ledger.accepted(
            peer: LoopbackSocket.peer(of: descriptor),
            handshake: options.tls == nil ? .notUsed : .pending
        )
        // The thread may end before it is recorded: it announces itself only after this lock.
        state.withLock { state in
            do {
                state.threads[index] = try WorkerThread { [self] in
                    run(index, descriptor)
                    self.state.withLock { $0.finished.append(index) }
                    wakeup.signal()
                }
            } catch {
                close(descriptor)
                ledger.change(index) { $0.failure = "\(error)" }
                ledger.released(index)
            }
        }
    }

    private func run(_ index: Int, _ descriptor: Int32) {
        let connection: ScriptedServer.Connection
        let wakeup: Wakeup
        do {
            wakeup = try Wakeup()
            connection = ScriptedServer.Connection(
                index: index,
                descriptor: descriptor,
                channel: try channel(index, descriptor),
                listener: self,
                wakeup: wakeup
            )
        } catch {
            close(descriptor)
            ledger.change(index) { $0.failure = "\(error)" }
            return ledger.released(index)
        }
        stopGate.register(wakeup)
        defer {
            stopGate.unregister(wakeup)
            connection.finish()
        }
        var step = "TLS handshake"
        do {
            guard options.answersHandshake else { return try connection.discardUntilClose() }
            do {
                try connection.handshake()
            } catch {
                ledger.change(index) { if $0.handshake == .pending { $0.handshake = .failed("\(error)") } }
                throw error
            }
            for next in script(index) {
                step = next.description
                try next.perform(connection)
            }
            step = "close"
            try connection.close()
        } catch {
            switch error as? ScriptedServer.Interruption {
            case .closedByPeer, .resetByPeer, .closedByScript, .stopped: break
            default: ledger.change(index) { $0.failure = "\(step): \(error)" }
            }
        }
    }

    private func channel(_ index: Int, _ descriptor: Int32) throws -> any ByteChannel {
        guard let identity = options.tls, options.answersHandshake else { return PlainChannel(descriptor: descriptor) }
        let chosen = options.identityForConnection?(index) ?? identity
        return try context(for: chosen).channel(descriptor: descriptor)
    }

    private func context(for identity: TLSIdentity) throws -> TLSContext {
        try state.withLock { state in
            if let known = state.contexts[identity] { return known }
            let made = try TLSContext(identity, options: options)
            state.contexts[identity] = made
            return made
        }
    }
}
