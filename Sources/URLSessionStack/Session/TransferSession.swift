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
        /// Calls the closure of each waiting transfer that gets a place.
        var places: PlaceQueue<@Sendable () -> Void>
    }

    let table: TaskTable
    /// The tunnels of the environment's proxies that transfers may use.
    let tunnels = Platform.tunnels()

    /// The session of the stack, which is set once: by the program, or by this before the first transfer.
    private let slot: Lock<URLSession?>
    private let state: Lock<State>

    /// The default fields of requests; `nil` for an injected session.
    var ownFields: OwnFields? { state.withLock { $0.ownFields } }

    var steering: DispatchQueue { table.steering }
    var interrupting: DispatchQueue { table.interrupting }

    /// Makes an object whose session is attached later, or made for the first transfer if the slot is empty then.
    init(
        table: TaskTable,
        slot: Lock<URLSession?>,
        connections: Network.Configuration.Connections = .init(),
        ownFields: OwnFields? = nil
    ) {
        self.table = table
        self.slot = slot
        let places = PlaceQueue<@Sendable () -> Void>(perHost: connections.perHost, total: connections.total)
        state = Lock(State(ownFields: ownFields, places: places))
    }

    /// The last fetch has ended, and no other can start.
    deinit { state.withLock { $0.session }?.finishTasksAndInvalidate() }

    /// Sets the session.
    func attach(_ session: URLSession) {
        Platform.detachCache(from: session)
        Platform.boundTimeout(of: session)
        state.withLock { state in
            state.session = session
            if state.ownFields == nil {
                state.places.perHost = max(1, session.configuration.httpMaximumConnectionsPerHost)
            }
        }
    }

    /// The session that carries a transfer. If none was set before the first transfer, this makes one with the default
    /// configuration.
    ///
    /// - Throws: ``HTTPTransferFailure/shutDown`` after the end; what the stack's initializer would throw for that configuration.
    func carrier() throws(HTTPTransferFailure<URLError>) -> URLSession {
        if table.isShutDown { throw .shutDown }
        if let session = state.withLock({ $0.session }) { return session }
        let configuration = Network.Configuration()
        do { try configuration.checkForURLSession() } catch { throw .init(error) }
        let (session, isNew) = slot.withLock { slot in
            if let session = slot { return (session, false) }
            let made = URLSession.carrying(configuration, delegate: table)
            slot = made
            return (made, true)
        }
        if isNew { state.withLock { $0.ownFields = OwnFields(configuration) } }
        attach(session)
        return session
    }

    // MARK: Places

    /// What is under way with each origin.
    var shares: [HTTP.Origin: Network.Gauges.Share] { state.withLock { $0.places.shares } }

    /// Takes a place, or returns a ticket; then `start` is called on the steering queue when a place is free.
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

    /// Runs a closure between two events of the session.
    func betweenEvents(_ body: @escaping @Sendable () -> Void) {
        guard let session = state.withLock({ $0.session }) else { return steering.async(execute: body) }
        session.delegateQueue.addOperation(body)
    }
}
