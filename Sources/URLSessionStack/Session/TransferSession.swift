internal import Dispatch
internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A session and its places. It lives as long as its engine or a fetch in flight, and invalidates the session at its end.
///
/// All sessions of a process share one queue of URLSession, where every call waits its turn. So tasks are made and started on one
/// queue, and cancelled and challenged on another. Only the end of a task waits, for its own cancel.
final class TransferSession: Sendable {
    private struct State {
        var session: URLSession?
        /// The default fields of requests; `nil` for an injected session.
        var ownFields: OwnFields?
    }

    let table: TaskTable
    /// The tunnels of the environment's proxies that transfers may use.
    let tunnels = Platform.tunnels()
    let places: TransferPlaces
    private let state: Lock<State>

    /// The session, which is set once: by the program, or by ``carrier()`` for the first transfer.
    var session: URLSession? { state.withLock { $0.session } }

    /// The default fields of requests; `nil` for an injected session.
    var ownFields: OwnFields? { state.withLock { $0.ownFields } }

    var steering: DispatchQueue { table.steering }
    var interrupting: DispatchQueue { table.interrupting }

    /// Makes an object. Without a session, one is attached later or made for the first transfer.
    init(
        table: TaskTable,
        session: URLSession? = nil,
        connections: Network.Configuration.Connections = .init(),
        ownFields: OwnFields? = nil
    ) {
        self.table = table
        places = TransferPlaces(connections)
        state = Lock(State(session: session, ownFields: ownFields))
    }

    /// The last fetch has ended, and no other can start.
    deinit { session?.finishTasksAndInvalidate() }

    /// Sets an injected session.
    ///
    /// - Parameter session: The session.
    /// - Returns: Whether it is the first one. Another one is not set.
    func attach(_ session: URLSession) -> Bool {
        Platform.detachCache(from: session)
        Platform.boundTimeout(of: session)
        let isFirst = state.withLock { state in
            guard state.session == nil else { return false }
            state.session = session
            places.limit(perHost: max(1, session.configuration.httpMaximumConnectionsPerHost))
            return true
        }
        // After the end, no fetch uses it. It would retain the stack.
        if table.isShutDown { end() }
        return isFirst
    }

    /// Invalidates the session after its last task. No task is made after that: all are made on this queue, by transfers that first
    /// ask for the session.
    func end() {
        table.shutDown()
        steering.async { [self] in session?.finishTasksAndInvalidate() }
    }

    /// The session that carries a transfer. If none was set before the first transfer, this makes one with the default
    /// configuration.
    ///
    /// - Throws: ``HTTPTransferFailure/shutDown`` after the end; what the stack's initializer would throw for that configuration.
    func carrier() throws(HTTPTransferFailure<URLError>) -> URLSession {
        if table.isShutDown { throw .shutDown }
        if let session { return session }
        let configuration = Network.Configuration()
        do { try configuration.checkForURLSession() } catch { throw .init(error) }
        return state.withLock { state in
            if let session = state.session { return session }
            let made = URLSession.carrying(configuration, delegate: table)
            (state.session, state.ownFields) = (made, OwnFields(configuration))
            return made
        }
    }

    /// Runs a closure between two events of the session.
    func betweenEvents(_ body: @escaping @Sendable () -> Void) {
        guard let session else { return steering.async(execute: body) }
        session.delegateQueue.addOperation(body)
    }
}
