/// The places of a transport, and the hosts that have answered, whose connections may be kept.
final class TransferPlaces: Sendable {
    private struct State {
        var queue: PlaceQueue<@Sendable () -> Void>
        var answered: Set<HTTP.Origin> = []
        var isClosed = false
    }

    private let state: Lock<State>

    init(_ connections: Network.Configuration.Connections) {
        state = Lock(State(queue: PlaceQueue(perHost: connections.perHost, total: connections.total)))
    }

    /// Takes a place, or returns a ticket; then `start` is called when a place is free.
    func enter(_ origin: HTTP.Origin, start: @escaping @Sendable () -> Void) -> UInt64? {
        state.withLock { $0.queue.enter(start, for: origin) }
    }

    /// Withdraws a ticket.
    ///
    /// - Returns: Whether it still waited.
    func withdraw(_ ticket: UInt64, from origin: HTTP.Origin) -> Bool {
        state.withLock { $0.queue.withdraw(ticket: ticket, from: origin) }
    }

    /// Frees a place.
    func leave(_ origin: HTTP.Origin) {
        let admitted = state.withLock { $0.isClosed ? [] : $0.queue.leave(origin) }
        for start in admitted { start() }
    }

    /// No waiting hop gets a place from now on.
    func close() { state.withLock { $0.isClosed = true } }

    /// What is under way with each origin.
    var shares: [HTTP.Origin: Network.Gauges.Share] { state.withLock { $0.queue.shares } }

    /// Notes that a host has answered a request in full.
    func answered(_ origin: HTTP.Origin) {
        state.withLock { state in
            // A client of many hosts must not collect them all; a host that is forgotten costs a repeat.
            if state.answered.count >= 1024 { state.answered = [] }
            state.answered.insert(origin)
        }
    }

    /// Whether a transfer to the host may be on a kept connection.
    func mayKeepConnection(to origin: HTTP.Origin) -> Bool { state.withLock { $0.answered.contains(origin) } }
}
