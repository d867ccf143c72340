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
        /// Whether they share only what has answered: until then, the host is as one that shares nothing.
        var sharesOnceAnswered = false
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
        var habits = Habits()
        /// Whether the host shares one connection among transfers; `nil` until that is known.
        fileprivate(set) var sharesConnection: Bool?
        /// Whether the connection that is shared may be gone, which the next to connect finds out.
        fileprivate var isInDoubt = false
        fileprivate let places = PoolPlaces()
        /// Who finds out whether the host shares connections, and who has a place and waits to hear.
        fileprivate var scout: ID?
        fileprivate var followers: [ID] = []
        fileprivate var waiting = Fifo<Ticket>()
        /// How many of those who wait, by their tickets, have gone.
        fileprivate var gone = 0
        fileprivate var isInRing = false
        /// The lines of the same origin for other versions, which open connections to it, too.
        fileprivate var others: [Unowned] = []

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

        /// No more transfers are to join the connection that is shared: the next opens another, for all.
        func leaveConnection() {
            places.moveOn()
            isInDoubt = true
        }

        /// How many places the line has, those of who has gone included.
        var length: Int { waiting.count }

        /// Whether its transfers are on one connection.
        fileprivate var sharesNow: Bool { isMultiplexed && host.isShared }

        /// How many transfers have a connection to the origin of their own.
        fileprivate var activeAtOrigin: Int {
            others.reduce(active) { $0 + ($1.line.sharesNow ? 0 : $1.line.active) }
        }
    }

    /// A line that the queue keeps.
    fileprivate struct Unowned { unowned let line: Line }

    private let limits: Network.Configuration.Connections
    let quirks: LibcurlQuirks
    private var lines: [Host: Line] = [:]
    private var origins: [HTTP.Origin: [Line]] = [:]
    /// The latest that was asked for, and by which hop, if that can come again: to compare a host is cheaper than to look it up.
    private(set) var recentLine: Line?
    var recentHop: HTTPHop?
    private var waits: [ID: (line: Line, ticket: Ticket)] = [:]
    private var latestNumber: UInt64 = 0
    /// The lines whose first may begin, or might if there were room in all.
    private var ring = Fifo<Line>()
    private var deserted = 0  // Those of them where nobody is left who waits.
    /// Those who have heard, and may connect now.
    private var released: [ID] = []
    private var active = 0

    /// What is known of hosts is kept for this many; beyond that, a host whose last transfer has ended is forgotten.
    private static let keptLines = 1024

    init(limits: Network.Configuration.Connections, quirks: LibcurlQuirks = .running) {
        (self.limits, self.quirks) = (limits, quirks)
    }

    /// How many lines are to be asked.
    var ringLength: Int { ring.count }

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
        let line = lines[host] ?? makeLine(host)
        (recentLine, recentHop) = (line, nil)
        return line
    }

    private mutating func makeLine(_ host: Host) -> Line {
        let line = Line(host)
        lines[host] = line
        origins[host.origin, default: []].append(line)
        join(host.origin)
        return line
    }

    /// Tells an origin's lines of each other.
    private func join(_ origin: HTTP.Origin) {
        let all = origins[origin] ?? []
        for line in all { line.others = all.filter { $0 !== line }.map { Unowned(line: $0) } }
    }

    /// Whether a transfer may begin at once; if not, it waits.
    mutating func enter(_ id: ID, in line: Line) -> Bool {
        // A list that grows in place is checked for exclusivity when it is read. Where nobody waits, none need be.
        if waits.isEmpty || line.waiting.isEmpty, hasRoom(line), hasRoomInAll {
            line.active += 1
            active += 1
            return true
        }
        if line.isInRing, line.waiting.isEmpty { deserted -= 1 }
        latestNumber += 1
        let ticket = Ticket(id: id, number: latestNumber)
        line.waiting.append(ticket)
        waits[id] = (line, ticket)
        callUp(line)
        return false
    }

    /// A line whose first may have room now takes its turn.
    private mutating func callUp(_ line: Line) {
        guard !line.isInRing, !waits.isEmpty, !line.waiting.isEmpty else { return }
        line.isInRing = true
        ring.append(line)
    }

    /// A line's transfers take less room at its origin, which is its other lines' room, too.
    private mutating func callUpAll(at line: Line) {
        callUp(line)
        for other in line.others { callUp(other.line) }
    }

    /// Whether a transfer that has a place may connect at once. While nobody knows what the host speaks, one finds out for
    /// all: connections of their own would be of no use where one is shared, and too many for one pool where none is.
    func mayConnect(_ id: ID, in line: Line) -> Bool {
        guard line.sharesConnection == nil || line.isInDoubt, line.host.isShared else { return true }
        guard line.scout != nil, line.scout != id else {
            line.scout = id
            return true
        }
        line.followers.append(id)
        return false
    }

    /// Whether a transfer may connect at once whose connection was of no use, or died. If it was shared, one finds another for
    /// all; those that wait for that have left their pool.
    func mayConnectAgain(_ id: ID, in line: Line, pool: Int?) -> Bool {
        if line.isMultiplexed { line.isInDoubt = true }
        let mayConnect = mayConnect(id, in: line)
        if !mayConnect { line.places.giveBack(pool) }
        return mayConnect
    }

    /// Takes those that need not wait any longer for what another finds out.
    mutating func takeReleased() -> [ID] {
        defer { released.removeAll() }
        return released
    }

    /// The pool for a transfer that connects: the first with room. Transfers that share a connection, or may, are in one.
    func pool(in line: Line) -> Int {
        line.host.isShared ? line.places.take(spreads: line.sharesConnection == false) : PoolPlaces.ownPool
    }

    /// A transfer has ended that had a place, and a pool if it was to connect.
    mutating func leave(_ line: Line, _ id: ID, pool: Int?) {
        line.active -= 1
        active -= 1
        line.places.giveBack(pool)
        if pool == nil {
            line.followers.removeAll { $0 == id }
            released.removeAll { $0 == id }
        }
        if line.scout == id {
            line.scout = line.followers.isEmpty ? nil : line.followers.removeFirst()
            if let scout = line.scout { released.append(scout) }
        }
        // Whether what is shared is still there when somebody asks again is for that one to find out.
        if line.active == 0, line.host.sharesOnceAnswered { line.sharesConnection = nil }
        if line.active == 0 { line.isInDoubt = line.isMultiplexed }
        callUpAll(at: line)
        forget(line)
    }

    /// A transfer that waits has gone. Its place in the line is passed over when it comes up.
    ///
    /// - Returns: Whether it did wait.
    mutating func giveUp(_ id: ID) -> Bool {
        guard let line = waits.removeValue(forKey: id)?.line else { return false }
        line.gone += 1
        if line.gone == line.waiting.count { desert(line) }
        if line.gone > 64, line.gone * 2 > line.waiting.count {
            let all = line.waiting
            (line.waiting, line.gone) = (Fifo(), 0)
            for place in 0..<all.count where waits[all[place].id]?.ticket == all[place] {
                line.waiting.append(all[place])
            }
        }
        return true
    }

    /// Nobody in a line waits any longer. It is passed over when it comes up, unless too many are.
    private mutating func desert(_ line: Line) {
        (line.waiting, line.gone) = (Fifo(), 0)
        if line.isInRing { deserted += 1 } else { forget(line) }
        guard deserted > 64, deserted * 2 > ring.count else { return }
        let all = ring
        (ring, deserted) = (Fifo(), 0)
        for line in (0..<all.count).map({ all[$0] }) {
            line.isInRing = !line.waiting.isEmpty
            if line.isInRing { ring.append(line) } else { forget(line) }
        }
    }

    /// A host turned out to share one connection among transfers, or not to.
    mutating func learned(_ line: Line, isMultiplexed: Bool) {
        guard line.sharesConnection != isMultiplexed || line.isInDoubt else { return }
        (line.sharesConnection, line.isInDoubt) = (isMultiplexed, false)
        line.scout = nil
        released += line.followers
        line.followers = []
        callUpAll(at: line)
    }

    /// The next transfer that may begin now.
    mutating func next() -> ID? {
        while hasRoomInAll, let line = ring.popFirst() {
            line.isInRing = false
            while let ticket = line.waiting.first, waits[ticket.id]?.ticket != ticket {
                _ = line.waiting.popFirst()
                line.gone -= 1
            }
            guard let id = line.waiting.first?.id else {
                deserted -= 1
                forget(line)
                continue
            }
            // Without room it waits for whoever leaves to call it up.
            guard hasRoom(line) else { continue }
            _ = line.waiting.popFirst()
            if line.gone > 0, line.gone == line.waiting.count { (line.waiting, line.gone) = (Fifo(), 0) }
            line.active += 1
            active += 1
            waits[id] = nil
            callUp(line)
            return id
        }
        return nil
    }

    /// Forgets a host that nobody needs, if too many are known.
    private mutating func forget(_ line: Line) {
        guard lines.count > Self.keptLines, line.active == 0, line.waiting.isEmpty, !line.isInRing else { return }
        lines[line.host] = nil
        origins[line.host.origin]?.removeAll { $0 === line }
        if origins[line.host.origin]?.isEmpty ?? false { origins[line.host.origin] = nil }
        join(line.host.origin)
        line.others = []  // They may go before whoever still has this one.
        if recentLine === line { (recentLine, recentHop) = (nil, nil) }
    }

    private var hasRoomInAll: Bool { limits.total.map { active < $0 } ?? true }

    private func hasRoom(_ line: Line) -> Bool {
        line.sharesNow ? line.active < limits.streamsPerConnection : line.activeAtOrigin < limits.perHost
    }
}
