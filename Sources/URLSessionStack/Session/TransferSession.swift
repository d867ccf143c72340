internal import Dispatch
internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A session and the transfers on it.
///
/// Everything that is asked of URLSession takes its turn on the one queue that all sessions share, and waits there if
/// something is stuck; so nobody asks but two queues that nobody waits for: one makes and starts tasks, one interrupts them.
final class TransferSession: Sendable {
    /// Where transfers stand in line, read their content and are started.
    let steering = DispatchQueue(label: "network-stack.urlsession")
    /// Where tasks are cancelled, and challenges answered: one at a time, as the two together could end the process.
    let interrupting = DispatchQueue(label: "network-stack.urlsession.interrupting")
    let table: TaskTable
    /// What every request says of itself, unless the session is somebody else's.
    let ownFields: OwnFields?

    private struct State {
        var session: URLSession?
        var isShutDown = false
        var places: PlaceQueue<HopTransfer>
        var live: [ObjectIdentifier: HopTransfer] = [:]
    }

    private let state: Lock<State>

    init(
        table: TaskTable,
        connections: Network.Configuration.Connections,
        ownFields: OwnFields?,
        isShutDown: Bool = false
    ) {
        self.table = table
        self.ownFields = ownFields
        state = Lock(
            State(isShutDown: isShutDown, places: PlaceQueue(perHost: connections.perHost, total: connections.total))
        )
    }

    /// The last fetch has ended and nobody can start another.
    deinit { state.withLock { $0.session }?.finishTasksAndInvalidate() }

    /// Takes the session that is to carry everything.
    func attach(_ session: URLSession) {
        Platform.detachCache(from: session)
        state.withLock { state in
            state.session = session
            state.places.perHost = max(1, session.configuration.httpMaximumConnectionsPerHost)
        }
    }

    /// The session, or `nil` if there is none any more.
    var urlSession: URLSession? {
        let (session, isShutDown) = state.withLock { ($0.session, $0.isShutDown) }
        if isShutDown { return nil }
        guard let session else {
            fatalError(
                """
                The stack has no session. Set one before the first fetch: \
                network.session = URLSession(configuration: .default, delegate: network, delegateQueue: nil)
                """
            )
        }
        return session
    }

    // MARK: Places

    /// Notes that a transfer has begun.
    ///
    /// - Returns: Whether it may; not after the shutdown.
    func begin(_ transfer: HopTransfer) -> Bool {
        state.withLock { state in
            if !state.isShutDown { state.live[ObjectIdentifier(transfer)] = transfer }
            return !state.isShutDown
        }
    }

    /// Notes that a transfer has ended.
    func end(_ transfer: HopTransfer) {
        _ = state.withLock { $0.live.removeValue(forKey: ObjectIdentifier(transfer)) }
    }

    func enter(_ transfer: HopTransfer) -> UInt64? {
        state.withLock { $0.places.enter(transfer, for: transfer.hop.origin) }
    }

    func withdraw(ticket: UInt64, from origin: HTTP.Origin) -> Bool {
        state.withLock { $0.places.withdraw(ticket: ticket, from: origin) }
    }

    func leave(_ origin: HTTP.Origin) {
        let admitted = state.withLock { $0.places.leave(origin) }
        for transfer in admitted { steering.async { transfer.startTask() } }
    }

    // MARK: Events

    /// Does something between two events of the session.
    func betweenEvents(_ body: @escaping @Sendable () -> Void) {
        guard let session = state.withLock({ $0.session }) else { return steering.async(execute: body) }
        session.delegateQueue.addOperation(body)
    }

    /// Ends every transfer, and the session when they have ended.
    func shutDown() {
        let (session, live) = state.withLock { state in
            state.isShutDown = true
            return (state.session, Array(state.live.values))
        }
        for transfer in live { transfer.fail(.refused(.shutDown)) }
        guard let session else { return }
        // No task is made after this: all are made on the same queue, by transfers that ask for the session first.
        steering.async { session.finishTasksAndInvalidate() }
    }
}
