internal import Dispatch
internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A session, and the places on it. It lives as long as its engine or any fetch in flight, and takes the session along.
///
/// Everything that is asked of URLSession takes its turn on the one queue that all sessions share, and waits there if
/// something is stuck; so nobody asks but two queues that nobody waits for: one makes and starts tasks, one interrupts
/// them.
final class TransferSession: Sendable {
    private struct State {
        var session: URLSession?
        /// What starts each transfer that waits for a place.
        var places: PlaceQueue<@Sendable () -> Void>
    }

    let table: TaskTable
    /// What every request says of itself, unless the session is somebody else's.
    let ownFields: OwnFields?
    /// Which of the environment's proxies' tunnels its transfers may go through.
    let tunnels = Platform.tunnels()

    private let state: Lock<State>

    var steering: DispatchQueue { table.steering }
    var interrupting: DispatchQueue { table.interrupting }

    /// Makes a session that is yet to be attached.
    init(
        table: TaskTable,
        connections: Network.Configuration.Connections = .init(),
        ownFields: OwnFields? = nil
    ) {
        self.table = table
        self.ownFields = ownFields
        state = Lock(State(places: PlaceQueue(perHost: connections.perHost, total: connections.total)))
    }

    /// The last fetch has ended and nobody can start another.
    deinit { state.withLock { $0.session }?.finishTasksAndInvalidate() }

    /// Takes the session that is to carry everything.
    func attach(_ session: URLSession) {
        Platform.detachCache(from: session)
        Platform.boundTimeout(of: session)
        state.withLock { state in
            state.session = session
            if ownFields == nil { state.places.perHost = max(1, session.configuration.httpMaximumConnectionsPerHost) }
        }
    }

    /// The session, or `nil` if there is none any more.
    var urlSession: URLSession? {
        if table.isShutDown { return nil }
        guard let session = state.withLock({ $0.session }) else {
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

    /// Takes a place, or returns a ticket; `start` is called on the steering queue when there is a place for it.
    func enter(_ origin: HTTP.Origin, start: @escaping @Sendable () -> Void) -> UInt64? {
        state.withLock { $0.places.enter(start, for: origin) }
    }

    func withdraw(ticket: UInt64, from origin: HTTP.Origin) -> Bool {
        state.withLock { $0.places.withdraw(ticket: ticket, from: origin) }
    }

    func leave(_ origin: HTTP.Origin) {
        let admitted = state.withLock { $0.places.leave(origin) }
        for start in admitted { steering.async(execute: start) }
    }

    // MARK: Events

    /// Does something between two events of the session.
    func betweenEvents(_ body: @escaping @Sendable () -> Void) {
        guard let session = state.withLock({ $0.session }) else { return steering.async(execute: body) }
        session.delegateQueue.addOperation(body)
    }
}
