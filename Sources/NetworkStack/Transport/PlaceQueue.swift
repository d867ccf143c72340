/// The places of a transport: how many transfers may run per host and in total, and which transfers wait.
///
/// Places are given in order per host. A busy host delays another only through the total limit, whose places are given in order of
/// arrival. No transfer is started that would have to wait in the queue of the library below, which cannot be inspected.
package struct PlaceQueue<Waiter> {
    private struct Host {
        var running = 0
        var waiting = TicketQueue<Waiter>()
    }

    package var perHost: Int
    private let total: Int
    private var hosts: [HTTP.Origin: Host] = [:]
    private var running = 0
    /// Tickets are in the order of arrival. None comes twice, because one may be withdrawn after its host was forgotten.
    private var latestTicket: UInt64 = 0

    package init(perHost: Int, total: Int?) {
        self.perHost = perHost
        self.total = total ?? .max
    }

    /// What is under way with each origin.
    package var shares: [HTTP.Origin: Network.Gauges.Share] {
        hosts.mapValues { host in
            var share = Network.Gauges.Share()
            share.active = host.running
            share.waiting = host.waiting.count
            return share
        }
    }

    /// Takes a place, or queues the waiter.
    ///
    /// - Returns: The ticket of the waiter, or `nil` if a place was free.
    package mutating func enter(_ waiter: Waiter, for origin: HTTP.Origin) -> UInt64? {
        var host = hosts.removeValue(forKey: origin) ?? Host()
        defer { hosts[origin] = host }
        if host.running < perHost, running < total, host.waiting.isEmpty {
            host.running += 1
            running += 1
            return nil
        }
        latestTicket += 1
        host.waiting.append(waiter, latestTicket)
        return latestTicket
    }

    /// Frees a place.
    ///
    /// - Returns: The waiters that have a place now; the caller starts them.
    package mutating func leave(_ origin: HTTP.Origin) -> [Waiter] {
        hosts[origin]?.running -= 1
        running -= 1
        defer { forget(origin) }
        return admit()
    }

    /// Withdraws a ticket.
    ///
    /// - Returns: Whether its waiter was still queued.
    package mutating func withdraw(ticket: UInt64, from origin: HTTP.Origin) -> Bool {
        defer { forget(origin) }
        return hosts[origin]?.waiting.remove(ticket) != nil
    }

    private mutating func admit() -> [Waiter] {
        var admitted: [Waiter] = []
        while running < total {
            var next: (origin: HTTP.Origin, ticket: UInt64)?
            for (origin, host) in hosts where host.running < perHost {
                guard let first = host.waiting.first else { continue }
                if first < next?.ticket ?? .max { next = (origin, first) }
            }
            guard let origin = next?.origin, let waiter = hosts[origin]?.waiting.popFirst() else { break }
            admitted.append(waiter)
            hosts[origin]?.running += 1
            running += 1
        }
        return admitted
    }

    private mutating func forget(_ origin: HTTP.Origin) {
        if let host = hosts[origin], host.running == 0, host.waiting.isEmpty { hosts[origin] = nil }
    }
}
