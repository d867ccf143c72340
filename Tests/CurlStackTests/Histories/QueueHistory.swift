import FoundationEssentials
import NetworkStackTesting

@testable import CurlStack
@testable import NetworkStack

/// Transfers that come, wait for places, connect or follow, and leave at random.
///
/// It uses ``ConnectionQueue``, ``WaitingTransfers`` and ``ActiveTransfers`` like ``Loop``, and counts the transfers.
final class QueueHistory: History {
    static let subject = "ConnectionQueue"
    private static let longest = 400

    private let seed: UInt64
    private var random: SeededRandom
    private var queue: ConnectionQueue
    private var waiting = WaitingTransfers()
    private var active = ActiveTransfers()
    private var count: QueueCount
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private let context = LoopContext(quirks: [])
    private let hops: [HTTPHop]
    /// The frequency of each kind of step, so that the queues of some histories become long.
    private let weights: [Int]
    private var begun: [ConnectionQueue.Host] = []

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        let isWide = random.chance(4)
        let limits = Network.Configuration.Connections(
            perHost: isWide ? 40 : 1 + random.number(below: 3),
            total: random.chance(2) ? nil : 1 + random.number(below: isWide ? 50 : 5),
            streamsPerConnection: 1 + random.number(below: isWide ? 50 : 4)
        )
        queue = ConnectionQueue(limits: limits, quirks: [])
        let all = try Self.allHosts()
        count = QueueCount(limits, Array(all.shuffled(using: &random).prefix(1 + random.number(below: 6))))
        let timeouts: [Duration?] = [nil, .milliseconds(200), .seconds(1)]
        hops = try timeouts.map { try HTTPHop.ofHistory(queueTimeout: $0) }
        weights = [
            12 + random.number(below: 12), 1 + random.number(below: 12), random.number(below: 12), 2, 2, 3, 2, 1, 1,
        ]
    }

    private static func allHosts() throws -> [ConnectionQueue.Host] {
        let origins = try ["https://a.test/", "http://a.test/", "https://b.test/"].map { url in
            try HTTP.Request(url: url).checked().1
        }
        return origins.flatMap { origin in
            [HTTP.Options.VersionPolicy.automatic, .http1_1, .http2PriorKnowledge].flatMap { version in
                [(true, false), (true, true), (false, false)].map { isShared, onceAnswered in
                    .init(origin: origin, version: version, isShared: isShared, sharesOnceAnswered: onceAnswered)
                }
            }
        }
    }

    func run() throws -> Int {
        for _ in 0..<Self.longest {
            try step()
            if !random.chance(4) { try prepareToWait() }
            try must("The gauges count every transfer, waiting or active.", queue.shares == count.shares)
            let places = Set(active.all.map(\.id))
            try must("A transfer is active or waits.", places == Set(count.active.map(\.id)))
            let next = count.waiting.compactMap(\.place.deadline).min()
            let isAwaited = next.map { waiting.nextMoment ?? .max <= $0.nextMillisecond } ?? true
            try must("The loop wakes for the next timeout.", isAwaited)
        }
        try prepareToWait()
        while let transfer = count.active.first {
            try leave(transfer)
            try prepareToWait()
        }
        try checkEmpty()
        context.end()
        return Self.longest
    }

    private func fault(_ sentence: String) -> HistoryFault {
        HistoryFault(seed: seed, subject: Self.subject, sentence)
    }

    private func must(_ sentence: String, _ holds: Bool) throws(HistoryFault) {
        guard holds else { throw fault(sentence) }
    }

    private func checkEmpty() throws {
        try must(
            "No transfer remains at the end.",
            waiting.isEmpty && active.isEmpty && queue.waitingCount == 0
        )
        try must("No place leaks.", queue.shares.isEmpty && queue.next() == nil && queue.ringLength == 0)
        for host in count.hosts where host.isShared && count[host].sharesConnection == false {
            let pools = (0..<16).map { _ in queue.takePool(in: queue.hostQueue(of: host)) }
            try must("No place in a pool leaks.", pools.allSatisfy { $0 == 0 })
        }
    }

    // MARK: Steps

    private func step() throws {
        now = now + .milliseconds(random.number(below: 20))
        var draw = random.number(below: weights.reduce(0, +))
        let kind = weights.firstIndex { weight in
            draw -= weight
            return draw < 0
        }

        guard let host = random.pick(count.hosts) else { return }
        let connecting = count[host].active.filter { !count[host].followers.contains($0.id) }
        switch kind {
        case 0: try start(host)
        case 1: if let transfer = random.pick(count[host].active) { try leave(transfer) }
        case 2: if let transfer = random.pick(count.waiting) { try giveUp(transfer) }
        case 3: try expire()
        case 4, 5: if !connecting.isEmpty { try learn(host) }
        case 6: if let transfer = random.pick(connecting) { try connectAgain(transfer) }
        case 7:
            queue.unconfirmConnections()
            for host in count.hosts { count[host].isUnconfirmed = count[host].sharesConnection == true }
        default:
            guard count[host].sharesConnection == true else { return }
            queue.hostQueue(of: host).leaveConnection()
            count[host].isUnconfirmed = true
        }
    }

    private func start(_ host: ConnectionQueue.Host) throws {
        if queue.waitingCount > 0 { try prepareToWait() }
        let control = TransferControl(
            hop: random.pick(hops) ?? hops[0],
            sink: IgnoringSink.shared,
            mailbox: HTTPHop.mailbox
        )
        let transfer = Transfer(control, hostQueue: queue.hostQueue(of: host), context: context, at: now)
        let hasRoom = count.hasRoom(host)
        guard queue.enter(transfer.id, in: transfer.hostQueue) else {
            waiting.insert(transfer)
            return count[host].waiting.append(transfer)
        }
        try must("No transfer begins without room.", hasRoom)
        try begin(transfer)
    }

    private func leave(_ transfer: Transfer) throws {
        active.remove(transfer)
        queue.leave(transfer.hostQueue, transfer.id, pool: transfer.place.poolNumber)
        count.left(transfer, transfer.hostQueue.host)
    }

    private func giveUp(_ transfer: Transfer) throws {
        try must("A transfer that waits is found.", waiting.take(transfer.id) === transfer && queue.giveUp(transfer.id))
        try must("A waiting transfer is removed once.", waiting.take(transfer.id) == nil && !queue.giveUp(transfer.id))
        count[transfer.hostQueue.host].waiting.removeAll { $0 === transfer }
    }

    private func expire() throws {
        now = now + .milliseconds(random.number(below: 500))
        while let transfer = waiting.takeLate(at: now) {
            try must("No transfer times out early.", transfer.place.deadline.map { $0 <= now } ?? false)
            try must("A transfer that times out has waited.", queue.giveUp(transfer.id))
            count[transfer.hostQueue.host].waiting.removeAll { $0 === transfer }
        }
        let late = count.waiting.contains { $0.place.deadline.map { $0 <= now } ?? false }
        try must("No transfer waits for longer than its timeout.", !late)
    }

    private func learn(_ host: ConnectionQueue.Host) throws {
        let (isMultiplexed, mayBeJoined) = (random.chance(2), !random.chance(4))
        let hostQueue = queue.hostQueue(of: host)
        queue.recordMultiplexing(of: hostQueue, isMultiplexed: isMultiplexed, mayBeJoined: mayBeJoined)
        count.learned(host, isMultiplexed: isMultiplexed, mayBeJoined: mayBeJoined)
        try connectReleased()
    }

    private func connectAgain(_ transfer: Transfer) throws {
        let host = transfer.hostQueue.host
        if count[host].sharesConnection == true { count[host].isUnconfirmed = true }
        let connects = count.connects(transfer, host)
        let pool = transfer.place.poolNumber
        let mayConnect = queue.claimReconnect(transfer.id, in: transfer.hostQueue, pool: pool)
        try must("One transfer connects again for all.", mayConnect == connects)
        if mayConnect { return }
        if let pool { count[host].pools[pool, default: 0] -= 1 }
        transfer.place.poolNumber = nil
        active.follow(transfer)
        count[host].followers.append(transfer.id)
    }

    // MARK: Steps of the loop

    private func prepareToWait() throws {
        begun = []
        while queue.waitingCount > 0, let id = queue.next() {
            guard let transfer = waiting.take(id) else { throw fault("A transfer that begins has waited.") }
            let host = transfer.hostQueue.host
            try must("No transfer begins without room.", count.hasRoom(host))
            try must("The transfers of a host begin in order.", count[host].waiting.first === transfer)
            try checkTurn(of: host)
            count[host].waiting.removeFirst()
            try begin(transfer)
        }
        try connectReleased()
        let forgotten = count.hosts.contains { !count[$0].waiting.isEmpty && count.hasRoom($0) }
        try must("No transfer waits while there is room.", !forgotten)
    }

    private func checkTurn(of host: ConnectionQueue.Host) throws {
        if let last = begun.lastIndex(of: host) {
            let others = count.hosts.filter { $0 != host && !count[$0].waiting.isEmpty && count.hasRoom($0) }
            try must("Hosts take turns.", others.allSatisfy { begun[last...].contains($0) })
        }
        begun.append(host)
    }

    private func begin(_ transfer: Transfer) throws {
        let host = transfer.hostQueue.host
        active.insert(transfer)
        count[host].active.append(transfer)
        let mayConnect = queue.claimConnect(transfer.id, in: transfer.hostQueue)
        try must(
            "Until a host's version is known, one transfer connects.",
            mayConnect == count.connects(transfer, host)
        )
        guard !mayConnect else { return try connect(transfer) }
        active.follow(transfer)
        count[host].followers.append(transfer.id)
    }

    private func connect(_ transfer: Transfer) throws {
        let host = transfer.hostQueue.host
        let (expected, pool) = (count.pool(host), queue.takePool(in: transfer.hostQueue))
        try must("A transfer gets the first pool with room.", expected ?? pool == pool)
        transfer.place.poolNumber = pool
        count[host].pools[pool, default: 0] += 1
    }

    private func connectReleased() throws {
        while case let released = queue.takeReleased(), !released.isEmpty {
            for id in released {
                guard let transfer = active.takeFollower(id) else {
                    throw fault("Only a transfer that follows is released.")
                }
                let host = transfer.hostQueue.host
                count[host].followers.removeAll { $0 == id }
                try connect(transfer)
            }
        }
        for host in count.hosts where count[host].leader == nil && !count[host].followers.isEmpty {
            try must("No transfer follows without a leader while it may connect.", !count.mayConnect(host))
        }
    }
}
