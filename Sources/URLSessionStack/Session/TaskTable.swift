internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Which transfer a task of a session belongs to. Whoever is the session's delegate hands every event in here.
///
/// It knows neither the session nor the stack, so a delegate that holds it keeps neither alive.
final class TaskTable: Sendable {
    private struct State {
        var transfers: [Int: HopTransfer] = [:]
        var isInvalid = false
        var waiting: [Handover<Void>] = []
    }

    private let state = Lock(State())

    /// Answers challenges, if the stack has somebody who can.
    let challengeHandler: (any AuthenticationChallengeHandler)?

    init(challengeHandler: (any AuthenticationChallengeHandler)?) { self.challengeHandler = challengeHandler }

    subscript(task: URLSessionTask) -> HopTransfer? {
        let identifier = task.taskIdentifier
        return state.withLock { $0.transfers[identifier] }
    }

    func insert(_ transfer: HopTransfer, for task: URLSessionTask) {
        let identifier = task.taskIdentifier
        state.withLock { $0.transfers[identifier] = transfer }
    }

    func remove(_ task: URLSessionTask) -> HopTransfer? {
        let identifier = task.taskIdentifier
        return state.withLock { $0.transfers.removeValue(forKey: identifier) }
    }

    /// The session has let go of everything.
    func becameInvalid() {
        let waiting = state.withLock { state in
            state.isInvalid = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for handover in waiting { handover.fill(()) }
    }

    /// Waits until the session has let go of everything.
    func invalid() async {
        let handover = Handover<Void>()
        let isInvalid = state.withLock { state in
            if !state.isInvalid { state.waiting.append(handover) }
            return state.isInvalid
        }
        if !isInvalid { _ = await handover.take() }
    }
}
