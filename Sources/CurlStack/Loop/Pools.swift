internal import NetworkStack

/// The pools of a loop, made as they are needed. When certificates are replaced, so are all pools: a former one carries the transfers
/// that it has, and ends with the last.
struct Pools {
    private var configuration: Network.Configuration
    private var authorities: Authorities
    private let poller: Poller
    private let connections: ConnectionTable
    private let quirks: LibcurlQuirks
    /// The pools by slot, for which their sockets are watched; `nil` for one that has ended.
    private(set) var all: [Pool?] = []
    /// The slots of those that transfers connect in, by the pool's number (``PoolPlaces``).
    private var slots: [Int: Int] = [:]
    /// The slots of the former ones.
    private var former: Set<Int> = []
    /// How long unused connections are kept.
    private let idleAge: Duration
    /// What can be decoded. Its libraries are loaded when a stack is made, not during the first fetch.
    private let contentCodings = CurlLibrary.shared.contentCodings.joined(separator: ", ")
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
    subscript(of transfer: Transfer) -> Pool? { transfer.place.slot.flatMap { all[$0] } }

    /// When libcurl wants to be called for one of them, or they are looked at, in milliseconds of the monotonic clock.
    var nextMoment: Int64? {
        var next = nextLook?.nextMillisecond
        for case let pool? in all {
            if let deadline = pool.multi.deadline { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    /// Makes the pool with a number, if there is none.
    ///
    /// - Returns: Its slot, unless there was no memory for it.
    mutating func make(_ number: Int, at now: MonotonicTime) -> Int? {
        if nextLook == nil { nextLook = now + idleAge }
        if let slot = slots[number] { return slot }
        let slot = all.firstIndex { $0 == nil } ?? all.count
        let multi = MultiHandle(
            poller: poller,
            connections: connections,
            slot: slot,
            limits: configuration.connections,
            sharesConnections: number != PoolPlaces.ownPool,
            quirks: quirks
        )
        guard let multi else { return nil }
        if slot == all.count { all.append(nil) }
        all[slot] = Pool(
            configuration: configuration,
            authorities: authorities,
            contentCodings: contentCodings,
            multi: multi
        )
        slots[number] = slot
        return slot
    }

    /// Has transfers connect with other certificates from now on. The connections that no transfer uses are closed, unless one is in
    /// their pool.
    mutating func replace(
        _ tls: Network.TLSConfiguration,
        _ authorities: Authorities,
        beside transfers: [Transfer]
    ) {
        (configuration.tls, self.authorities) = (tls, authorities)
        former.formUnion(slots.values)
        slots = [:]
        endFormer(beside: transfers)
    }

    /// Ends the former pools that have no transfer.
    mutating func endFormer(beside transfers: [Transfer]) {
        guard !former.isEmpty else { return }
        let used = Set(transfers.map(\.place.slot))
        for slot in former where !used.contains(slot) { end(slot) }
    }

    /// Frees a pool that has no transfer, and so closes its connections.
    private mutating func end(_ slot: Int) {
        all[slot] = nil
        former.remove(slot)
        slots = slots.filter { $0.value != slot }
    }

    /// Ends the pools where no transfer has been for the idle age. libcurl closes what is too old, or dead,
    /// when a transfer of the same pool looks for a connection, and after a burst none comes to most pools.
    ///
    /// The end of a transfer is not noted: pools are looked at once in that time as long as any was used, and a pool is unused if
    /// no transfer was there between two looks.
    mutating func closeUnused(beside transfers: [Transfer], at now: MonotonicTime) {
        guard let look = nextLook, look <= now else { return }
        nextLook = nil
        let used = Set(transfers.map(\.place.slot))
        for case (let slot, let pool?) in all.enumerated() {
            pool.looks = used.contains(slot) ? 0 : pool.looks + 1
            if pool.looks < 2 { nextLook = now + idleAge } else { end(slot) }
        }
    }
}
