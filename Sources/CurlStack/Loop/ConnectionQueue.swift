internal import NetworkStack

/// Who may use a connection now, and who waits: in order per host, hosts taking turns. It has no clock and no thread.
struct ConnectionQueue {
    typealias ID = ObjectIdentifier

    /// What transfers share a connection by.
    struct Host: Hashable {
        let origin: HTTP.Origin
        let version: HTTP.Options.VersionPolicy
        /// Whether they share it at the same time, too, if it speaks HTTP/2.
        var isShared = true
    }

    /// A transfer's wait. One that has gone may have left its ID to another, so every wait has a number of its own.
    fileprivate struct Ticket: Equatable {
        let id: ID
        let number: UInt64
    }

    /// The transfers of one host: those under way, and those that wait.
    final class Line {
        let host: Host
        fileprivate(set) var active = 0
        /// Whether the host shares one connection among transfers; `nil` until that is known.
        fileprivate(set) var sharesConnection: Bool?
        /// How many are under way in each pool.
        fileprivate var inPools = InlineArray<64, Int>(repeating: 0)

        /// The first pool with room; if none has any, the one with the fewest.
        fileprivate var poolWithRoom: Int {
            var fewest = 0
            for place in inPools.indices {
                if inPools[place] < ConnectionQueue.poolSize { return place }
                if inPools[place] < inPools[fewest] { fewest = place }
            }
            return fewest
        }
        /// Who finds out whether the host shares connections, and who has a place and waits to hear.
        fileprivate var scout: ID?
        fileprivate var followers: [ID] = []
        fileprivate var waiting: [Ticket] = []
        fileprivate var first = 0
        /// How many of those who wait, by their tickets, have gone.
        fileprivate var gone = 0
        fileprivate var isInRing = false

        fileprivate init(_ host: Host) {
            self.host = host
            let mayShare =
                switch host.version {
                case .automatic: host.origin.scheme == .https
                case .http1_1: false
                case .http2PriorKnowledge: true
                }
            if !mayShare { sharesConnection = false }
        }

        var isMultiplexed: Bool { sharesConnection ?? false }

        /// How many places the line has, those of who has gone included.
        var length: Int { waiting.count }

        fileprivate var next: Ticket? { first < waiting.count ? waiting[first] : nil }

        fileprivate var isIdle: Bool { active == 0 && next == nil }

        fileprivate func popFirst() {
            first += 1
            if first > 64, first * 2 > waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
        }
    }

    private let limits: Network.Configuration.Connections
    private var lines: [Host: Line] = [:]
    /// The latest that was asked for: to compare a host is cheaper than to look it up.
    private var recentLine: Line?
    private var waits: [ID: (line: Line, ticket: Ticket)] = [:]
    private var latestNumber: UInt64 = 0
    private var ring: [Line] = []
    /// Those who have heard, and may connect now.
    private var released: [ID] = []
    private var active = 0

    /// What is known of hosts is kept for this many; beyond that, a host whose last transfer has ended is forgotten.
    private static let keptLines = 1024
    /// How many of a host's transfers a pool has before another gets the next. libcurl looks at every connection to a host
    /// for every request to it, so few in one place are cheaper than many; idle connections are found again because pools
    /// fill in order.
    static let poolSize = 16
    /// The pool whose connections are not shared at the same time.
    static let ownPool = 1

    init(limits: Network.Configuration.Connections) { self.limits = limits }

    /// How many wait.
    var waitingCount: Int { waits.count }

    /// What is under way with each origin.
    var shares: [HTTP.Origin: Network.ConnectionStatistics.Share] {
        var shares: [HTTP.Origin: Network.ConnectionStatistics.Share] = [:]
        for (host, line) in lines where line.active > 0 { shares[host.origin, default: .init()].active += line.active }
        for (line, _) in waits.values { shares[line.host.origin, default: .init()].waiting += 1 }
        return shares
    }

    /// The line of a host.
    mutating func line(of host: Host) -> Line {
        if let recentLine, recentLine.host == host { return recentLine }
        let line = lines[host] ?? Line(host)
        lines[host] = line
        recentLine = line
        return line
    }

    /// Whether a transfer may begin at once; if not, it waits.
    mutating func enter(_ id: ID, in line: Line) -> Bool {
        if line.next == nil, hasRoom(line), hasRoomInAll {
            line.active += 1
            active += 1
            return true
        }
        latestNumber += 1
        let ticket = Ticket(id: id, number: latestNumber)
        line.waiting.append(ticket)
        waits[id] = (line, ticket)
        if !line.isInRing {
            line.isInRing = true
            ring.append(line)
        }
        return false
    }

    /// Whether a transfer that has a place may connect at once. While nobody knows what the host speaks, one finds out for
    /// all: connections of their own would be of no use where one is shared, and too many for one pool where none is.
    func mayConnect(_ id: ID, in line: Line) -> Bool {
        guard line.sharesConnection == nil, line.host.isShared else { return true }
        guard line.scout != nil else {
            line.scout = id
            return true
        }
        line.followers.append(id)
        return false
    }

    /// The next that need not wait any longer for what another finds out.
    mutating func nextToConnect() -> ID? { released.isEmpty ? nil : released.removeFirst() }

    /// The pool for a transfer that connects: the first with room. Transfers that share a connection, or may, are in one.
    func pool(in line: Line) -> Int {
        if !line.host.isShared { return Self.ownPool }
        let place = line.sharesConnection == false ? line.poolWithRoom : 0
        line.inPools[place] += 1
        return place < Self.ownPool ? place : place + 1
    }

    /// A transfer has ended that had a place, and a pool if it was to connect.
    mutating func leave(_ line: Line, _ id: ID, pool: Int?) {
        line.active -= 1
        active -= 1
        if let pool {
            if pool != Self.ownPool { line.inPools[pool < Self.ownPool ? pool : pool - 1] -= 1 }
        } else {
            line.followers.removeAll { $0 == id }
            released.removeAll { $0 == id }
        }
        if line.scout == id {
            line.scout = line.followers.isEmpty ? nil : line.followers.removeFirst()
            if let scout = line.scout { released.append(scout) }
        }
        forget(line)
    }

    /// A transfer that waits has gone. Its place in the line is passed over when it comes up.
    ///
    /// - Returns: Whether it did wait.
    mutating func giveUp(_ id: ID) -> Bool {
        guard let line = waits.removeValue(forKey: id)?.line else { return false }
        line.gone += 1
        if line.gone > 64, line.gone * 2 > line.waiting.count - line.first {
            line.waiting = line.waiting[line.first...].filter { waits[$0.id]?.ticket == $0 }
            (line.first, line.gone) = (0, 0)
        }
        return true
    }

    /// A host turned out to share one connection among transfers, or not to.
    mutating func learned(_ line: Line, isMultiplexed: Bool) {
        line.sharesConnection = isMultiplexed
        line.scout = nil
        released += line.followers
        line.followers = []
    }

    /// The next transfer that may begin now.
    mutating func next() -> ID? {
        guard hasRoomInAll else { return nil }
        for _ in 0..<ring.count {
            let line = ring.removeFirst()
            while let ticket = line.next, waits[ticket.id]?.ticket != ticket {
                line.popFirst()
                line.gone -= 1
            }
            guard let id = line.next?.id else {
                line.isInRing = false
                forget(line)
                continue
            }
            if hasRoom(line) {
                line.popFirst()
                line.active += 1
                active += 1
                waits[id] = nil
                line.isInRing = line.next != nil
                if line.isInRing { ring.append(line) }
                return id
            }
            ring.insert(line, at: ring.endIndex)
        }
        return nil
    }

    /// Forgets a host that nobody needs, if too many are known.
    private mutating func forget(_ line: Line) {
        guard lines.count > Self.keptLines, line.isIdle, !line.isInRing else { return }
        lines[line.host] = nil
        if recentLine === line { recentLine = nil }
    }

    private var hasRoomInAll: Bool { limits.total.map { active < $0 } ?? true }

    private func hasRoom(_ line: Line) -> Bool {
        let sharesNow = line.isMultiplexed && line.host.isShared
        return line.active < (sharesNow ? limits.streamsPerConnection : limits.perHost)
    }
}
