import NetworkStackTesting

@testable import NetworkStack

/// Hops that come, wait for a place, are withdrawn and leave at random, compared with plain lists.
final class PlaceQueueHistory: History {
    static let subject = "PlaceQueue"
    private static let longest = 400

    private struct Waiting { let ticket: UInt64, hop: Int }

    private let seed: UInt64
    private var random: SeededRandom
    private let perHost: Int
    private let total: Int?
    private var queue: PlaceQueue<Int>
    private let origins: [HTTP.Origin]
    private var running: [HTTP.Origin: Int] = [:]
    private var waiting: [HTTP.Origin: [Waiting]] = [:]
    private var lastHop = 0
    private var withdrawn: [(UInt64, HTTP.Origin)] = []

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        (perHost, total) = (1 + random.number(below: 4), random.chance(2) ? nil : 1 + random.number(below: 6))
        queue = PlaceQueue(perHost: perHost, total: total)
        origins = try (0...random.number(below: 4)).map { try HTTP.Request(url: "http://\($0).test/").checked().1 }
    }

    private func must(_ sentence: String, _ holds: Bool) throws(HistoryFault) {
        guard holds else { throw HistoryFault(seed: seed, subject: Self.subject, sentence) }
    }

    func run() throws -> Int {
        let entering = 2 + random.number(below: 4)
        for _ in 0..<Self.longest {
            guard let origin = random.pick(origins) else { break }
            switch random.number(below: 7) {
            case 0..<entering: try enter(origin)
            case 6: try withdraw(from: origin)
            default: if running[origin, default: 0] > 0 { try leave(origin) }
            }
            try check()
        }
        while let origin = origins.first(where: { running[$0, default: 0] > 0 }) { try leave(origin) }
        try must("No place leaks.", queue.shares.isEmpty)
        return Self.longest
    }

    private func hasRoom(_ origin: HTTP.Origin) -> Bool {
        running[origin, default: 0] < perHost && running.values.reduce(0, +) < total ?? .max
    }

    private func enter(_ origin: HTTP.Origin) throws {
        let hasRoom = hasRoom(origin)
        lastHop += 1
        guard let ticket = queue.enter(lastHop, for: origin) else {
            try must("No hop begins without room.", hasRoom)
            running[origin, default: 0] += 1
            return
        }
        waiting[origin, default: []].append(Waiting(ticket: ticket, hop: lastHop))
    }

    private func leave(_ origin: HTTP.Origin) throws {
        running[origin, default: 0] -= 1
        for hop in queue.leave(origin) {
            let next = waiting.filter { !$0.value.isEmpty && hasRoom($0.key) }
            try must("A hop that has waited longest begins.", next.values.compactMap(\.first?.hop).min() == hop)
            guard let host = next.first(where: { $0.value.first?.hop == hop })?.key else { return }
            waiting[host]?.removeFirst()
            running[host, default: 0] += 1
        }
    }

    private func withdraw(from origin: HTTP.Origin) throws {
        if let (ticket, origin) = random.pick(withdrawn) {
            try must("A ticket is withdrawn once.", !queue.withdraw(ticket: ticket, from: origin))
        }
        guard let place = waiting[origin, default: []].indices.randomElement(using: &random),
            let ticket = waiting[origin]?.remove(at: place).ticket
        else { return }
        try must("A ticket that waits is withdrawn.", queue.withdraw(ticket: ticket, from: origin))
        withdrawn.append((ticket, origin))
    }

    private func check() throws {
        let forgotten = origins.contains { !waiting[$0, default: []].isEmpty && hasRoom($0) }
        try must("No hop waits while there is room.", !forgotten)
        let shares = queue.shares
        for origin in origins {
            let share = shares[origin] ?? .init()
            let counts =
                share.active == running[origin, default: 0] && share.waiting == waiting[origin, default: []].count
            try must("The gauges count every hop, waiting or running.", counts)
        }
    }
}
