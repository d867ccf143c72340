/// The places of a transport, and the hosts that have answered, whose connections may be kept.
package final class TransferPlaces: Sendable {
    private struct State {
        var queue: PlaceQueue<@Sendable () -> Void>
        var answered: Set<HTTP.Origin> = []
        var isClosed = false
    }

    private let state: Lock<State>

    package init(_ connections: Network.Configuration.Connections) {
        state = Lock(State(queue: PlaceQueue(perHost: connections.perHost, total: connections.total)))
    }

    /// Changes how many transfers to a host may run at once.
    package func limit(perHost: Int) { state.withLock { $0.queue.perHost = perHost } }

    /// Takes a place, or returns a ticket; then `start` is called when a place is free.
    package func enter(_ origin: HTTP.Origin, start: @escaping @Sendable () -> Void) -> UInt64? {
        state.withLock { $0.queue.enter(start, for: origin) }
    }

    /// Withdraws a ticket.
    ///
    /// - Returns: Whether it still waited.
    package func withdraw(_ ticket: UInt64, from origin: HTTP.Origin) -> Bool {
        state.withLock { $0.queue.withdraw(ticket: ticket, from: origin) }
    }

    /// Frees a place.
    package func leave(_ origin: HTTP.Origin) {
        let admitted = state.withLock { $0.isClosed ? [] : $0.queue.leave(origin) }
        for start in admitted { start() }
    }

    /// No waiting hop gets a place from now on.
    func close() { state.withLock { $0.isClosed = true } }

    /// What is under way with each origin.
    package var shares: [HTTP.Origin: Network.Gauges.Share] { state.withLock { $0.queue.shares } }

    /// Notes that a host has answered a request in full.
    func answered(_ origin: HTTP.Origin) {
        state.withLock { state in
            // A client of many hosts must not collect them all; a host that is forgotten loses its automatic repeat.
            if state.answered.count >= 1024 { state.answered = [] }
            state.answered.insert(origin)
        }
    }

    /// Whether a transfer to the host may be on a kept connection.
    func mayKeepConnection(to origin: HTTP.Origin) -> Bool { state.withLock { $0.answered.contains(origin) } }
}
