import NetworkStack

@testable import CurlStack

/// The transfers of each host, counted by the queue's rules, for comparison with the queue.
struct QueueCount {
    typealias Host = ConnectionQueue.Host

    /// The counts of one host.
    struct Transfers {
        var waiting: [Transfer] = []
        var active: [Transfer] = []
        /// Those that are active, and wait for the leader to connect.
        var followers: [ObjectIdentifier] = []
        var leader: ObjectIdentifier?
        /// The number of transfers with a place in each pool.
        var pools: [Int: Int] = [:]
        /// Whether the host shares one connection; `nil` until that is known.
        var sharesConnection: Bool?
        var isUnconfirmed = false
    }

    let limits: Network.Configuration.Connections
    let hosts: [Host]
    private var counts: [Host: Transfers] = [:]

    init(_ limits: Network.Configuration.Connections, _ hosts: [Host]) {
        (self.limits, self.hosts) = (limits, hosts)
        for host in hosts {
            let mayShare = host.version == .http2PriorKnowledge || host.version == .automatic && host.isSecure
            self[host].sharesConnection = mayShare ? nil : false
        }
    }

    subscript(host: Host) -> Transfers {
        get { counts[host] ?? Transfers() }
        set { counts[host] = newValue }
    }

    var waiting: [Transfer] { hosts.flatMap { self[$0].waiting } }
    var active: [Transfer] { hosts.flatMap { self[$0].active } }

    private func sharesNow(_ host: Host) -> Bool { host.isShared && self[host].sharesConnection == true }

    func hasRoom(_ host: Host) -> Bool {
        if let total = limits.total, hosts.reduce(0, { $0 + self[$1].active.count }) >= total { return false }
        guard !sharesNow(host) else { return self[host].active.count < limits.streamsPerConnection }
        let atOrigin = hosts.filter { $0.origin == host.origin && !sharesNow($0) }
        return atOrigin.reduce(0) { $0 + self[$1].active.count } < limits.perHost
    }

    /// Whether a transfer with a place may use a connection: one that is shared, or one more.
    func mayConnect(_ host: Host) -> Bool {
        if sharesNow(host) { return true }
        let atOrigin = hosts.filter { $0.origin == host.origin && !sharesNow($0) }
        return atOrigin.reduce(0) { $0 + self[$1].active.count - self[$1].followers.count } < limits.perHost
    }

    /// Whether a transfer with a place connects at once; if so and the host's version is not known, it leads.
    mutating func connects(_ transfer: Transfer, _ host: Host) -> Bool {
        guard host.isShared, self[host].sharesConnection == nil || self[host].isUnconfirmed else { return true }
        guard self[host].leader ?? transfer.id == transfer.id else { return false }
        self[host].leader = transfer.id
        return true
    }

    /// The pool for a transfer that connects: the first with room, where transfers share none.
    func pool(_ host: Host) -> Int? {
        guard host.isShared, self[host].sharesConnection == false else { return nil }
        return (0...).first { $0 != PoolPlaces.ownPool && self[host].pools[$0, default: 0] < 16 }
    }

    mutating func left(_ transfer: Transfer, _ host: Host) {
        self[host].active.removeAll { $0 === transfer }
        self[host].followers.removeAll { $0 == transfer.id }
        if let pool = transfer.place.poolNumber { self[host].pools[pool, default: 0] -= 1 }
        if self[host].leader == transfer.id { self[host].leader = self[host].followers.first }
        guard self[host].active.isEmpty else { return }
        if host.sharesOnceAnswered { self[host].sharesConnection = nil }
        self[host].isUnconfirmed = self[host].sharesConnection == true
    }

    mutating func learned(_ host: Host, isMultiplexed: Bool, mayBeJoined: Bool) {
        let isSound = self[host].sharesConnection == true && !self[host].isUnconfirmed
        let isMultiplexed = isMultiplexed && (mayBeJoined || isSound)
        guard self[host].sharesConnection != isMultiplexed || self[host].isUnconfirmed else { return }
        (self[host].sharesConnection, self[host].isUnconfirmed, self[host].leader) = (isMultiplexed, false, nil)
    }

    /// The active and waiting transfers of each origin.
    var shares: [HTTP.Origin: Network.Gauges.Share] {
        var shares: [HTTP.Origin: Network.Gauges.Share] = [:]
        for host in hosts where !self[host].active.isEmpty || !self[host].waiting.isEmpty {
            shares[host.origin, default: .init()].active += self[host].active.count
            shares[host.origin, default: .init()].waiting += self[host].waiting.count
        }
        return shares
    }
}

extension ConnectionQueue.Host {
    fileprivate var isSecure: Bool { origin.scheme == .https }
}
