internal import NetworkStack

/// The pools of a loop, made as they are needed, in order.
struct Pools {
    private let configuration: Network.Configuration
    private let authorities: Authorities
    private let poller: Poller
    private let connections: ConnectionTable
    private let quirks: LibcurlQuirks
    private(set) var all: [Pool] = []
    /// How long unused connections are kept.
    private let idleAge: Duration
    /// When those that were used are looked at.
    private var nextLook: MonotonicTime?

    /// How long libcurl keeps unused connections by default, in seconds (`CURLOPT_MAXAGE_CONN`).
    private static let usualIdleAge: Int64 = 118

    init(
        _ configuration: Network.Configuration,
        _ authorities: Authorities,
        poller: Poller,
        connections: ConnectionTable,
        quirks: LibcurlQuirks
    ) {
        (self.configuration, self.authorities, self.poller) = (configuration, authorities, poller)
        (self.connections, self.quirks) = (connections, quirks)
        idleAge = .seconds(max(1, configuration.connections.idleAge?.parts.seconds ?? Self.usualIdleAge))
    }

    /// The pool of a transfer that was to connect, unless there was no memory for one.
    subscript(of transfer: Transfer) -> Pool? { transfer.place.pool.flatMap { $0 < all.count ? all[$0] : nil } }

    /// When libcurl wants to be called for one of them, or they are looked at, in milliseconds of the monotonic clock.
    var nextMoment: Int64? {
        var next = nextLook?.nextMillisecond
        for pool in all {
            if let deadline = pool.multi.deadline { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    /// Makes pools up to a number, which is about to be used, as far as there is memory.
    mutating func make(through number: Int, at now: MonotonicTime) {
        if nextLook == nil { nextLook = now + idleAge }
        while all.count <= number {
            let multi = MultiHandle(
                poller: poller,
                connections: connections,
                number: all.count,
                limits: configuration.connections,
                sharesConnections: all.count != PoolPlaces.ownPool,
                quirks: quirks
            )
            guard let multi else { return }
            all.append(Pool(configuration: configuration, authorities: authorities, multi: multi))
        }
    }

    /// Closes the connections of pools where no transfer has been for the idle age. libcurl closes what is too old, or dead,
    /// when a transfer of the same pool looks for a connection, and after a burst none comes to most pools.
    ///
    /// The end of a transfer is not noted: pools are looked at once in that time as long as any was used, and a pool is unused if
    /// no transfer was there between two looks.
    mutating func closeUnused(beside transfers: [Transfer], at now: MonotonicTime) {
        guard let look = nextLook, look <= now else { return }
        nextLook = nil
        let used = Set(transfers.map(\.place.pool))
        for (number, pool) in all.enumerated() {
            pool.looks = used.contains(number) ? 0 : pool.looks + 1
            if pool.looks == 2 { pool.closeConnections() }
            if pool.looks < 2 { nextLook = now + idleAge }
        }
    }
}
