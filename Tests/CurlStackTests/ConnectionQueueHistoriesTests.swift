import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

@testable import CurlStack

/// Compares the queue with a plain count of active and waiting transfers, over random histories.
@Suite("ConnectionQueue in random histories")
struct ConnectionQueueHistoriesTests {
    private final class Token {}

    /// The active and waiting transfers of each host, after the events so far.
    private struct Count {
        let limits: Network.Configuration.Connections
        var active: [ConnectionQueue.Host: [ConnectionQueue.ID]] = [:]
        var waiting: [ConnectionQueue.Host: [ConnectionQueue.ID]] = [:]
        var isMultiplexed: [ConnectionQueue.Host: Bool] = [:]

        private func sharesNow(_ host: ConnectionQueue.Host) -> Bool { host.isShared && isMultiplexed[host] == true }

        func hasRoom(_ host: ConnectionQueue.Host) -> Bool {
            if let total = limits.total, active.values.reduce(0, { $0 + $1.count }) >= total { return false }
            guard !sharesNow(host) else { return active[host, default: []].count < limits.streamsPerConnection }
            let atOrigin = active.filter { $0.key.origin == host.origin && !sharesNow($0.key) }
            return atOrigin.values.reduce(0) { $0 + $1.count } < limits.perHost
        }
    }

    @Test("lets no transfer wait while there is room, and starts none without", arguments: 0..<40)
    func room(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let limits = Network.Configuration.Connections(
            perHost: .random(in: 1...3, using: &random),
            total: Bool.random(using: &random) ? nil : .random(in: 1...5, using: &random),
            streamsPerConnection: .random(in: 1...4, using: &random)
        )
        var (queue, count, tokens) = (ConnectionQueue(limits: limits), Count(limits: limits), [Token]())
        let versions = [HTTP.Options.VersionPolicy.automatic, .http1_1, .http2PriorKnowledge]
        let hosts = try ["https://a/", "http://a/", "https://b/"].flatMap { url in
            let origin = try HTTP.Origin(of: try #require(URL(string: url)))
            return versions.flatMap { version in
                [true, false].map { ConnectionQueue.Host(origin: origin, version: version, isShared: $0) }
            }
        }
        for step in 0..<400 {
            guard let host = hosts.randomElement(using: &random) else { return }
            let line = queue.hostQueue(of: host)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                tokens.append(Token())
                let id = ObjectIdentifier(tokens[tokens.count - 1])
                let (hasRoom, begins) = (count.hasRoom(host), queue.enter(id, in: line))
                #expect(hasRoom || !begins, "step \(step)")
                if begins {
                    count.active[host, default: []].append(id)
                } else {
                    count.waiting[host, default: []].append(id)
                }
            case 4, 5:
                guard let id = count.active[host]?.randomElement(using: &random) else { break }
                queue.leave(line, id, pool: nil)
                count.active[host]?.removeAll { $0 == id }
            case 6:
                guard let id = count.waiting[host]?.randomElement(using: &random) else { break }
                let waited = queue.giveUp(id)
                #expect(waited, "step \(step)")
                count.waiting[host]?.removeAll { $0 == id }
            default:
                let isMultiplexed = Bool.random(using: &random)
                queue.recordMultiplexing(of: line, isMultiplexed: isMultiplexed)
                count.isMultiplexed[host] = isMultiplexed
            }
            while let id = queue.next() {
                let host = try #require(count.waiting.first { $0.value.first == id }?.key, "step \(step)")
                #expect(count.hasRoom(host), "step \(step)")
                count.waiting[host]?.removeFirst()
                count.active[host, default: []].append(id)
            }
            let forgotten = count.waiting.filter { !$0.value.isEmpty && count.hasRoom($0.key) }
            try #require(forgotten.isEmpty, "step \(step): \(forgotten.keys)")
        }
        withExtendedLifetime(tokens) {}
    }
}
