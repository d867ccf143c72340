/// The places of a transport: how many transfers may run per host and in total, and which transfers wait.
///
/// Places are given in order per host. A busy host delays another only through the total limit, whose places are given in order of
/// arrival. No transfer is started that would have to wait in the queue of the library below, which cannot be inspected.
package struct PlaceQueue<Waiter> {
    private struct Waiting {
        let ticket: UInt64
        var waiter: Waiter?
    }

    private struct Host {
        var running = 0
        var waiting = Deque<Waiting>()
    }

    package var perHost: Int
    private let total: Int
    private var hosts: [HTTP.Origin: Host] = [:]
    private var running = 0
    private var nextTicket: UInt64 = 0

    package init(perHost: Int, total: Int?) {
        self.perHost = perHost
        self.total = total ?? .max
    }

    /// What is under way with each origin.
    package var shares: [HTTP.Origin: Network.Gauges.Share] {
        hosts.mapValues { host in
            var share = Network.Gauges.Share()
            share.active = host.running
            for place in 0..<host.waiting.count where host.waiting[place].waiter != nil { share.waiting += 1 }
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
        nextTicket += 1
        host.waiting.append(Waiting(ticket: nextTicket, waiter: waiter))
        return nextTicket
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
        guard var host = hosts.removeValue(forKey: origin) else { return false }
        defer {
            hosts[origin] = host
            forget(origin)
        }
        var (low, high) = (0, host.waiting.count)
        while low < high {
            let middle = (low + high) / 2
            if host.waiting[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        guard low < host.waiting.count, host.waiting[low].ticket == ticket, host.waiting[low].waiter != nil else {
            return false
        }
        host.waiting[low].waiter = nil
        Self.trim(&host)
        return true
    }

    private mutating func admit() -> [Waiter] {
        var admitted: [Waiter] = []
        while running < total {
            var next: (origin: HTTP.Origin, ticket: UInt64)?
            for (origin, host) in hosts where host.running < perHost {
                guard let first = host.waiting.first else { continue }
                if first.ticket < next?.ticket ?? .max { next = (origin, first.ticket) }
            }
            guard let origin = next?.origin, var host = hosts.removeValue(forKey: origin) else { break }
            if let waiter = host.waiting.popFirst()?.waiter {
                admitted.append(waiter)
                host.running += 1
                running += 1
            }
            Self.trim(&host)
            hosts[origin] = host
        }
        return admitted
    }

    private mutating func forget(_ origin: HTTP.Origin) {
        if let host = hosts[origin], host.running == 0, host.waiting.isEmpty { hosts[origin] = nil }
    }

    /// Removes withdrawn waiters from the front.
    private static func trim(_ host: inout Host) {
        while let first = host.waiting.first, first.waiter == nil { _ = host.waiting.popFirst() }
    }
}
