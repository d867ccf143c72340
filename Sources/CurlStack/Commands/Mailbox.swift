internal import NetworkStack
private import Synchronization

/// The commands of other threads to a loop. Posting is waking, under the one lock that also guards the waker.
final class Mailbox: Sendable {
    enum Command {
        case start(TransferControl)
        case cancel(TransferControl)
        case resumeReceiving(TransferControl)
        case resumeSending(TransferControl)
        /// Connect with other certificates from now on.
        case replaceCertificates(Network.TLSConfiguration, Authorities, OneShot<Void>)
        /// Report what is under way.
        case report(OneShot<Network.Gauges>)
        /// The stack was released: end, once everything is done.
        case stop
        /// Fail what is under way, and end.
        case shutDown
    }

    private struct State {
        var commands: [Command] = []
        var isLoopWaiting = false
        var isClosed = false
    }

    let waker = Waker()
    /// Resumes together what the loop ends in one turn.
    let batch = ResumeBatch()
    private let state = Lock(State())

    /// Posts a command. The loop is woken only if it waits.
    ///
    /// - Returns: Whether the loop is still there.
    @discardableResult
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.commands.append(command)
            if state.isLoopWaiting {
                state.isLoopWaiting = false
                waker.wake()
            }
            return true
        }
    }

    /// Takes all commands, in order.
    func takeAll(into commands: inout [Command]) {
        state.withLock { state in
            state.isLoopWaiting = false
            swap(&state.commands, &commands)
        }
    }

    /// The loop is about to wait.
    ///
    /// - Returns: Whether it may: `false` if there are commands already.
    func prepareToWait() -> Bool {
        state.withLock { state in
            state.isLoopWaiting = state.commands.isEmpty
            return state.isLoopWaiting
        }
    }

    /// The loop waits no longer: it takes the commands before it waits again, and need not be woken for them.
    func endWaiting() { state.withLock { $0.isLoopWaiting = false } }

    /// No command is taken any more.
    ///
    /// - Returns: The commands that were not taken.
    func close() -> [Command] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }
}

extension Mailbox.Command {
    /// Answers a command that the loop has not taken before its end.
    func refuse() {
        switch self {
        case .start(let control): control.fail(.shutDown)
        case .report(let answer): answer.fill(.init())
        case .replaceCertificates(_, _, let answer): answer.fill(())
        case .cancel, .resumeReceiving, .resumeSending, .stop, .shutDown: break
        }
    }
}

/// The caller's side of a transfer: what is to be carried, and commands to the loop. It is also the transfer's identity.
final class TransferControl: HTTPTransfer {
    let hop: HTTPHop
    let sink: any HTTPTransferSink<CurlError>
    /// Whether a connection is to be opened and nothing sent on it.
    let opensOnly: Bool
    /// `nil` if the stack has no loop: then the hop fails at once.
    private let mailbox: Mailbox?
    private let latestIndex = Atomic(-1)

    /// The index of its transfer among the active ones; negative if it is not active. Only the loop's thread uses it; it is atomic because
    /// the type is `Sendable`.
    var activeIndex: Int {
        get { latestIndex.load(ordering: .relaxed) }
        set { latestIndex.store(newValue, ordering: .relaxed) }
    }

    init(hop: HTTPHop, sink: any HTTPTransferSink<CurlError>, mailbox: Mailbox?, opensOnly: Bool = false) {
        self.hop = hop
        self.sink = sink
        self.mailbox = mailbox
        self.opensOnly = opensOnly
    }

    /// Has the loop carry it.
    ///
    /// - Returns: Whether there is a loop.
    func start() -> Bool { mailbox?.post(.start(self)) ?? false }

    func cancel() { mailbox?.post(.cancel(self)) }

    func resumeReceiving() { mailbox?.post(.resumeReceiving(self)) }

    func resumeSending() { mailbox?.post(.resumeSending(self)) }

    /// Reports why nothing is carried. There is nothing to measure then.
    func fail(_ failure: HTTPTransferFailure<CurlError>) { sink.failed(failure, metrics: HTTP.Metrics()) }
}
