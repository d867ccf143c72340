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
        fileprivate var waiting: [ID] = []
        fileprivate var first = 0
        fileprivate var isInRing = false

        fileprivate init(_ host: Host) {
            self.host = host
            if host.origin.scheme == .http, host.version != .http2PriorKnowledge { sharesConnection = false }
        }

        var isMultiplexed: Bool { sharesConnection ?? false }

        /// Whether the first transfer opens a connection for all: by prior knowledge there is no other use for a second.
        fileprivate var isAlone: Bool { host.version == .http2PriorKnowledge && host.isShared }

        fileprivate var next: ID? { first < waiting.count ? waiting[first] : nil }

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
    private var waitingLines: [ID: Line] = [:]
    private var ring: [Line] = []
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
    var waitingCount: Int { waitingLines.count }

    /// What is under way with each origin.
    var shares: [HTTP.Origin: Network.ConnectionStatistics.Share] {
        var shares: [HTTP.Origin: Network.ConnectionStatistics.Share] = [:]
        for (host, line) in lines where line.active > 0 { shares[host.origin, default: .init()].active += line.active }
        for line in waitingLines.values { shares[line.host.origin, default: .init()].waiting += 1 }
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
        line.waiting.append(id)
        waitingLines[id] = line
        if !line.isInRing {
            line.isInRing = true
            ring.append(line)
        }
        return false
    }

    /// The pool for a transfer that begins: the first with room. Transfers that share a connection, or may, are in one.
    func pool(in line: Line) -> Int {
        if !line.host.isShared { return Self.ownPool }
        let place = line.sharesConnection == false ? line.poolWithRoom : 0
        line.inPools[place] += 1
        return place < Self.ownPool ? place : place + 1
    }

    /// A transfer that began in a pool has ended.
    mutating func leave(_ line: Line, pool: Int) {
        line.active -= 1
        active -= 1
        let place = pool < Self.ownPool ? pool : pool - 1
        if pool != Self.ownPool { line.inPools[place] -= 1 }
        forget(line)
    }

    /// A transfer that waits has gone. Its place in the line is passed over when it comes up.
    ///
    /// - Returns: Whether it did wait.
    mutating func giveUp(_ id: ID) -> Bool { waitingLines.removeValue(forKey: id) != nil }

    /// A host turned out to share one connection among transfers, or not to.
    func learned(_ line: Line, isMultiplexed: Bool) { line.sharesConnection = isMultiplexed }

    /// The next transfer that may begin now.
    mutating func next() -> ID? {
        guard hasRoomInAll else { return nil }
        for _ in 0..<ring.count {
            let line = ring.removeFirst()
            while let id = line.next, waitingLines[id] !== line { line.popFirst() }
            guard let id = line.next else {
                line.isInRing = false
                forget(line)
                continue
            }
            if hasRoom(line) {
                line.popFirst()
                line.active += 1
                active += 1
                waitingLines[id] = nil
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
        return line.active < (sharesNow ? limits.streamsPerConnection : line.isAlone ? 1 : limits.perHost)
    }
}
