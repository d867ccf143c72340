internal import NetworkStack

extension Network.Gauges {
    /// What a loop does now.
    init(_ queue: ConnectionQueue, _ context: LoopContext, _ active: [Transfer], _ times: inout TurnTimes) {
        var shares = queue.shares
        let used = Set(active.compactMap { $0.attempt.connection.map(ObjectIdentifier.init) })
        for connection in context.connections.all {
            guard let origin = connection.origin else { continue }
            if used.contains(ObjectIdentifier(connection)) {
                shares[origin, default: .init()].connectionsInUse += 1
            } else {
                shares[origin, default: .init()].idleConnections += 1
            }
        }
        let origins = Dictionary(active.map { ($0.id, $0.control.hop.origin) }) { first, _ in first }
        for transfer in context.connections.connecting {
            if let origin = origins[transfer] { shares[origin, default: .init()].connecting += 1 }
        }
        self.init(shares)
        var loop = Loop()
        loop.connectionsOpened = context.connections.openedCount
        loop.nameLookups = context.connections.lookupCount
        times.report(to: &loop, at: .now)
        self.loop = loop
    }
}
