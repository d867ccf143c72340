internal import NetworkStack

/// Decides which transfers may use a connection now, and which wait: in order per host, hosts taking turns. It has no clock and no
/// thread. A host's queue is an object, which its transfers keep: a copy of this value would share it.
struct ConnectionQueue {
    typealias ID = ObjectIdentifier

    /// What transfers share a connection by.
    struct Host: Hashable {
        let origin: HTTP.Origin
        let version: HTTP.Options.VersionPolicy
        /// Whether they share it at the same time, too, if it speaks HTTP/2.
        var isShared = true
        /// Whether they share only what has answered: until then, the host is as one that shares nothing.
        var sharesOnceAnswered = false
    }

    /// What is known of whether a host shares one connection among transfers.
    enum Sharing {
        /// The next transfer to connect finds out.
        case unknown
        case unshared
        case shared
        /// It did, but the connection may be gone. The next transfer to connect finds out.
        case unconfirmed
    }

    /// The transfers of one host: those under way, and those that wait.
    final class HostQueue {
        let host: Host
        fileprivate(set) var active = 0
        var hints = HostHints()
        fileprivate(set) var sharing: Sharing
        @safe @exclusivity(unchecked)
        fileprivate var places = PoolPlaces()
        /// The transfer that connects first, to find out whether the host shares connections; and those with a place that wait for that.
        fileprivate var leader: ID?
        fileprivate var followers: [ID] = []
        fileprivate var waiting = TicketQueue<ID>()
        /// Its ticket in the ring, if it is there.
        fileprivate var turn: UInt64?
        /// The queues of the same origin for other versions.
        fileprivate var others: [Unowned] = []

        fileprivate init(_ host: Host) {
            self.host = host
            let mayShare =
                switch host.version {
                case .automatic: host.origin.scheme == .https
                case .http1_1: false
                case .http2PriorKnowledge: true
                }
            sharing = mayShare ? .unknown : .unshared
        }

        var isMultiplexed: Bool { sharing == .shared || sharing == .unconfirmed }

        /// No more transfers are to join the connection that is shared: the next opens another, for all.
        func leaveConnection() {
            places.moveOn()
            unconfirm()
        }

        /// The connection that is shared may be gone.
        fileprivate func unconfirm() { if sharing == .shared { sharing = .unconfirmed } }

        /// How many transfers wait.
        var length: Int { waiting.count }

        /// Whether its transfers are on one connection.
        fileprivate var sharesNow: Bool { isMultiplexed && host.isShared }

        /// How many transfers have a place for a connection to the origin that they do not share.
        fileprivate var activeAtOrigin: Int {
            others.reduce(active) { $0 + ($1.queue.sharesNow ? 0 : $1.queue.active) }
        }

        /// How many of them do not wait for another to connect.
        fileprivate var connectingAtOrigin: Int {
            others.reduce(connecting) { $0 + ($1.queue.sharesNow ? 0 : $1.queue.connecting) }
        }

        private var connecting: Int { active - followers.count }
    }

    /// A host queue that is kept elsewhere.
    fileprivate struct Unowned { unowned let queue: HostQueue }

    private let limits: Network.Configuration.Connections
    let quirks: LibcurlQuirks
    private var queues: [Host: HostQueue] = [:]
    private var origins: [HTTP.Origin: [HostQueue]] = [:]
    private var waits: [ID: (queue: HostQueue, ticket: UInt64)] = [:]
    private var latestTicket: UInt64 = 0
    /// The host queues whose first transfer may begin, if there is room in total.
    private var ring = TicketQueue<HostQueue>()
    /// Followers that may connect now.
    private var released: [ID] = []
    private var active = 0

    /// What is known of hosts is kept for this many; beyond that, a host whose last transfer has ended is forgotten.
    private static let keptQueues = 1024

    init(limits: Network.Configuration.Connections, quirks: LibcurlQuirks = .running) {
        (self.limits, self.quirks) = (limits, quirks)
    }

    /// How many host queues are scheduled.
    var ringLength: Int { ring.count }

    /// How many transfers wait.
    var waitingCount: Int { waits.count }

    /// No transfer joins a connection that is shared now. For each host, the next transfer to connect finds out whether it shares one.
    mutating func unconfirmConnections() {
        for queue in queues.values { queue.unconfirm() }
    }

    /// What is under way with each origin.
    var shares: [HTTP.Origin: Network.Gauges.Share] {
        var shares: [HTTP.Origin: Network.Gauges.Share] = [:]
        for (host, queue) in queues where queue.active > 0 {
            shares[host.origin, default: .init()].active += queue.active
        }
        for (queue, _) in waits.values { shares[queue.host.origin, default: .init()].waiting += 1 }
        return shares
    }

    /// The queue of a host.
    mutating func hostQueue(of host: Host) -> HostQueue { queues[host] ?? makeHostQueue(host) }

    private mutating func makeHostQueue(_ host: Host) -> HostQueue {
        let queue = HostQueue(host)
        queues[host] = queue
        origins[host.origin, default: []].append(queue)
        join(host.origin)
        return queue
    }

    /// Links the queues of an origin.
    private func join(_ origin: HTTP.Origin) {
        let all = origins[origin] ?? []
        for queue in all { queue.others = all.filter { $0 !== queue }.map { Unowned(queue: $0) } }
    }

    /// Whether a transfer may begin at once; if not, it waits.
    mutating func enter(_ id: ID, in queue: HostQueue) -> Bool {
        if queue.waiting.isEmpty, hasRoom(queue), hasRoomInAll {
            queue.active += 1
            active += 1
            return true
        }
        latestTicket += 1
        queue.waiting.append(id, latestTicket)
        waits[id] = (queue, latestTicket)
        schedule(queue)
        return false
    }

    /// Schedules a queue whose first transfer may have room now.
    private mutating func schedule(_ queue: HostQueue) {
        guard queue.turn == nil, !queue.waiting.isEmpty else { return }
        latestTicket += 1
        queue.turn = latestTicket
        ring.append(queue, latestTicket)
    }

    /// Schedules the queues of an origin, at which there is more room now.
    private mutating func scheduleAll(of queue: HostQueue) {
        schedule(queue)
        for other in queue.others { schedule(other.queue) }
    }

    /// Returns whether a transfer that has a place may connect at once, or makes it a follower: until the host's version is known, one
    /// transfer connects, and the others wait, because they may share that connection.
    mutating func claimConnect(_ id: ID, in queue: HostQueue) -> Bool {
        guard queue.sharing == .unknown || queue.sharing == .unconfirmed, queue.host.isShared else { return true }
        guard queue.leader != nil, queue.leader != id else {
            queue.leader = id
            return true
        }
        queue.followers.append(id)
        return false
    }

    /// Returns whether a transfer whose connection was unusable or died may connect again at once, or makes it a follower: if the
    /// connection was shared, one transfer connects for all. Followers leave their pool.
    mutating func claimReconnect(_ id: ID, in queue: HostQueue, pool: Int?) -> Bool {
        queue.unconfirm()
        let mayConnect = claimConnect(id, in: queue)
        if !mayConnect { queue.places.giveBack(pool) }
        return mayConnect
    }

    /// Takes the followers that need not wait any longer.
    mutating func takeReleased() -> [ID] {
        defer { released.removeAll() }
        return released
    }

    /// Takes a place in a pool for a transfer that connects, and returns the pool's number: the first with room. Transfers that share a
    /// connection, or may, are in one pool.
    mutating func takePool(in queue: HostQueue) -> Int {
        queue.host.isShared ? queue.places.take(spreads: queue.sharing == .unshared) : PoolPlaces.ownPool
    }

    /// A transfer has ended that had a place, and a pool if it was to connect.
    mutating func leave(_ queue: HostQueue, _ id: ID, pool: Int?) {
        queue.active -= 1
        active -= 1
        queue.places.giveBack(pool)
        if pool == nil {
            queue.followers.removeAll { $0 == id }
            released.removeAll { $0 == id }
        }
        if queue.leader == id {
            queue.leader = queue.followers.isEmpty ? nil : queue.followers.removeFirst()
            if let leader = queue.leader { released.append(leader) }
        }
        releaseFollowers(beside: queue)
        if queue.active == 0 {
            if queue.host.sharesOnceAnswered { queue.sharing = .unknown } else { queue.unconfirm() }
        }
        scheduleAll(of: queue)
        forget(queue)
    }

    /// A transfer that waits has gone. Returns whether it did wait.
    @discardableResult
    mutating func giveUp(_ id: ID) -> Bool {
        guard let (queue, ticket) = waits.removeValue(forKey: id) else { return false }
        queue.waiting.remove(ticket)
        if queue.waiting.isEmpty {
            if let turn = queue.turn.take() { ring.remove(turn) }
            forget(queue)
        }
        return true
    }

    /// A host turned out to share one connection among transfers, or not to.
    ///
    /// A connection that may not be joined yet leaves what is known of its host as it is. If nothing is known, or the connection that was
    /// shared may be gone, the host counts as one that shares nothing: each follower then opens a connection, within the limit per host.
    mutating func recordMultiplexing(of queue: HostQueue, isMultiplexed: Bool, mayBeJoined: Bool = true) {
        let sharing = isMultiplexed && (mayBeJoined || queue.sharing == .shared) ? Sharing.shared : .unshared
        guard queue.sharing != sharing else { return }
        (queue.sharing, queue.leader) = (sharing, nil)
        releaseFollowers(beside: queue)
        scheduleAll(of: queue)
    }

    /// Has followers connect at an origin where there may be more room now.
    private mutating func releaseFollowers(beside queue: HostQueue) {
        releaseFollowers(of: queue)
        for other in queue.others { releaseFollowers(of: other.queue) }
    }

    /// Has the followers of a queue that has no leader connect: all on the connection that is shared, or as many as may have connections.
    private mutating func releaseFollowers(of queue: HostQueue) {
        guard queue.leader == nil, !queue.followers.isEmpty else { return }
        let room = max(0, limits.perHost - queue.connectingAtOrigin)
        let count = min(queue.followers.count, queue.sharesNow ? .max : room)
        released += queue.followers.prefix(count)
        queue.followers.removeFirst(count)
    }

    /// The next transfer that may begin now.
    mutating func next() -> ID? {
        while hasRoomInAll, let queue = ring.popFirst() {
            queue.turn = nil
            // Without room it waits until a transfer leaves, which schedules it.
            guard hasRoom(queue) else { continue }
            guard let id = queue.waiting.popFirst() else { continue }
            queue.active += 1
            active += 1
            waits[id] = nil
            schedule(queue)
            return id
        }
        return nil
    }

    /// Forgets a host without transfers, if too many are known.
    private mutating func forget(_ queue: HostQueue) {
        guard queues.count > Self.keptQueues, queue.active == 0, queue.waiting.isEmpty else { return }
        queues[queue.host] = nil
        origins[queue.host.origin]?.removeAll { $0 === queue }
        if origins[queue.host.origin]?.isEmpty ?? false { origins[queue.host.origin] = nil }
        join(queue.host.origin)
        queue.others = []  // They may be freed before this one.
    }

    private var hasRoomInAll: Bool { limits.total.map { active < $0 } ?? true }

    private func hasRoom(_ queue: HostQueue) -> Bool {
        queue.sharesNow ? queue.active < limits.streamsPerConnection : queue.activeAtOrigin < limits.perHost
    }
}
