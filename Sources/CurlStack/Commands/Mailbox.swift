internal import NetworkStack

/// Where other threads leave word for a loop. Posting is waking, under the one lock that also guards the waker.
final class Mailbox: Sendable {
    enum Command {
        case start(TransferControl)
        case cancel(TransferControl)
        case resumeReceiving(TransferControl)
        case resumeSending(TransferControl)
        /// Say how the connections stand.
        case report(Handover<Network.ConnectionStatistics>)
        /// Nobody is left who could post: go, once everything is done.
        case stop
        /// Fail what is under way, and go.
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

    /// Leaves word. The loop is woken only if it waits.
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

    /// Takes everything that was left, in order.
    func takeAll(into commands: inout [Command]) {
        state.withLock { state in
            state.isLoopWaiting = false
            swap(&state.commands, &commands)
        }
    }

    /// The loop is about to wait.
    ///
    /// - Returns: Whether it may: `false` if there is word already.
    func beginWaiting() -> Bool {
        state.withLock { state in
            state.isLoopWaiting = state.commands.isEmpty
            return state.isLoopWaiting
        }
    }

    /// The loop waits no longer: it takes the word that is left before it waits again, and need not be woken for it.
    func endWaiting() { state.withLock { $0.isLoopWaiting = false } }

    /// Nothing is taken any more.
    ///
    /// - Returns: What was left and not taken.
    func close() -> [Command] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }
}
