internal import Dispatch
internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Which transfer a task of a session belongs to, and whether there may be more of them. Whoever is the session's delegate
/// hands every event in here.
///
/// It knows neither the session nor the stack, so a delegate that holds it keeps neither alive.
final class TaskTable: Sendable {
    private struct State {
        var carried: [Int: HopTransfer] = [:]
        var isShutDown = false
    }

    /// Where transfers stand in line, read their content and are started.
    let steering = DispatchQueue(label: "network-stack.urlsession")
    /// Where tasks are cancelled, and challenges answered: one at a time, as the two together could end the process.
    let interrupting = DispatchQueue(label: "network-stack.urlsession.interrupting")
    /// Answers challenges, if the stack has somebody who can.
    let challengeHandler: (any AuthenticationChallengeHandler)?

    private let state = Lock(State())
    private let invalidation = Milestone()

    init(challengeHandler: (any AuthenticationChallengeHandler)?) { self.challengeHandler = challengeHandler }

    /// Whether no task may be made any more.
    var isShutDown: Bool { state.withLock { $0.isShutDown } || invalidation.isReached }

    /// Lets no task be made any more.
    func shutDown() { state.withLock { $0.isShutDown = true } }

    // MARK: Tasks

    subscript(task: URLSessionTask) -> HopTransfer? {
        let identifier = task.taskIdentifier
        return state.withLock { $0.carried[identifier] }
    }

    func insert(_ transfer: HopTransfer, for task: URLSessionTask) {
        let identifier = task.taskIdentifier
        state.withLock { $0.carried[identifier] = transfer }
    }

    func remove(_ task: URLSessionTask) -> HopTransfer? {
        let identifier = task.taskIdentifier
        return state.withLock { $0.carried.removeValue(forKey: identifier) }
    }

    // MARK: The end

    /// The session has let go of everything.
    func becameInvalid() { invalidation.reach() }

    /// Waits until the session has let go of everything.
    func invalid() async { await invalidation.wait() }
}
