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

    private final class Line {
        var active = 0
        var isMultiplexed = false
        /// Whether the first transfer opens a connection for all: by prior knowledge there is no other use for a second.
        var isAlone: Bool
        var waiting: [ID] = []
        var first = 0
        var isInRing = false

        var next: ID? { first < waiting.count ? waiting[first] : nil }

        /// Whether connections may be shared at the same time.
        let isShared: Bool

        init(_ host: Host) {
            isAlone = host.version == .http2PriorKnowledge && host.isShared
            isShared = host.isShared
        }

        func popFirst() {
            first += 1
            if first > 64, first * 2 > waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
        }
    }

    private let limits: Network.Configuration.Connections
    private var lines: [Host: Line] = [:]
    private var waitingHosts: [ID: Host] = [:]
    private var ring: [Host] = []
    private var active = 0

    init(limits: Network.Configuration.Connections) { self.limits = limits }

    /// How many wait.
    var waitingCount: Int { waitingHosts.count }

    /// What is under way with each origin.
    var shares: [HTTP.Origin: Network.ConnectionStatistics.Share] {
        var shares: [HTTP.Origin: Network.ConnectionStatistics.Share] = [:]
        for (host, line) in lines where line.active > 0 { shares[host.origin, default: .init()].active += line.active }
        for host in waitingHosts.values { shares[host.origin, default: .init()].waiting += 1 }
        return shares
    }

    /// Whether a transfer may begin at once; if not, it waits.
    mutating func enter(_ id: ID, for host: Host) -> Bool {
        let line = self.line(of: host)
        if line.next == nil, hasRoom(line), hasRoomInAll {
            line.active += 1
            active += 1
            return true
        }
        line.waiting.append(id)
        waitingHosts[id] = host
        if !line.isInRing {
            line.isInRing = true
            ring.append(host)
        }
        return false
    }

    /// A transfer that began has ended.
    mutating func leave(_ host: Host) {
        guard let line = lines[host] else { return }
        line.active -= 1
        active -= 1
        if line.active == 0, line.next == nil, !line.isMultiplexed { lines[host] = nil }
    }

    /// A transfer that waits has gone. Its place in the line is passed over when it comes up.
    ///
    /// - Returns: Whether it did wait.
    mutating func giveUp(_ id: ID) -> Bool { waitingHosts.removeValue(forKey: id) != nil }

    /// A host turned out to share one connection among transfers, or not to.
    mutating func learned(_ host: Host, isMultiplexed: Bool) { lines[host]?.isMultiplexed = isMultiplexed }

    /// Whether a host is known to share one connection among transfers.
    func isMultiplexed(_ host: Host) -> Bool { lines[host]?.isMultiplexed ?? false }

    /// The next transfer that may begin now.
    mutating func next() -> ID? {
        guard hasRoomInAll else { return nil }
        for _ in 0..<ring.count {
            let host = ring.removeFirst()
            guard let line = lines[host] else { continue }
            while let id = line.next, waitingHosts[id] != host { line.popFirst() }
            guard let id = line.next else {
                line.isInRing = false
                if line.active == 0, !line.isMultiplexed { lines[host] = nil }
                continue
            }
            if hasRoom(line) {
                line.popFirst()
                line.active += 1
                active += 1
                waitingHosts[id] = nil
                line.isInRing = line.next != nil
                if line.isInRing { ring.append(host) }
                return id
            }
            ring.insert(host, at: ring.endIndex)
        }
        return nil
    }

    private mutating func line(of host: Host) -> Line {
        if let line = lines[host] { return line }
        let line = Line(host)
        lines[host] = line
        return line
    }

    private var hasRoomInAll: Bool { limits.total.map { active < $0 } ?? true }

    private func hasRoom(_ line: Line) -> Bool {
        let sharesNow = line.isMultiplexed && line.isShared
        return line.active < (sharesNow ? limits.streamsPerConnection : line.isAlone ? 1 : limits.perHost)
    }
}
