import FoundationEssentials
import NetworkStack
import Testing

@testable import CurlStack

@Suite("ConnectionQueue")
struct ConnectionQueueTests {
    private final class Token {}

    private func host(_ name: String, _ version: HTTP.Options.VersionPolicy = .automatic) throws -> ConnectionQueue.Host
    {
        .init(origin: try HTTP.Origin(of: try #require(URL(string: "http://\(name)/"))), version: version)
    }

    @Test("starts transfers up to the limit, and the others in order")
    func order() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 2))
        let host = try host("a")
        let tokens = (0..<5).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        let entered = ids.map { queue.enter($0, in: queue.hostQueue(of: host)) }
        #expect(entered == [true, true, false, false, false])
        let step1 = queue.next()
        #expect(step1 == nil)
        queue.leave(queue.hostQueue(of: host), ids[0], pool: 0)
        let step2 = queue.next()
        #expect(step2 == ids[2])
        let step3 = queue.next()
        #expect(step3 == nil)
        queue.leave(queue.hostQueue(of: host), ids[1], pool: 0)
        queue.leave(queue.hostQueue(of: host), ids[2], pool: 0)
        let step4 = queue.next()
        #expect(step4 == ids[3])
        let step5 = queue.next()
        #expect(step5 == ids[4])
        withExtendedLifetime(tokens) {}
    }

    @Test("a newcomer does not overtake waiting transfers")
    func noOvertaking() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1))
        let host = try host("a")
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        _ = queue.enter(ids[0], in: queue.hostQueue(of: host))
        _ = queue.enter(ids[1], in: queue.hostQueue(of: host))
        queue.leave(queue.hostQueue(of: host), ids[0], pool: 0)
        let step6 = queue.enter(ids[2], in: queue.hostQueue(of: host))
        #expect(!step6)
        let step7 = queue.next()
        #expect(step7 == ids[1])
    }

    @Test("a busy host leaves room for others, and hosts alternate at the total limit")
    func hosts() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 2, total: 3))
        let (a, b) = (try host("a"), try host("b"))
        let tokens = (0..<8).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids[..<4] { _ = queue.enter(id, in: queue.hostQueue(of: a)) }
        let step8 = queue.enter(ids[4], in: queue.hostQueue(of: b))
        #expect(step8)
        let step9 = queue.enter(ids[5], in: queue.hostQueue(of: b))
        #expect(!step9)
        queue.leave(queue.hostQueue(of: a), ids[0], pool: 0)
        queue.leave(queue.hostQueue(of: a), ids[1], pool: 0)
        let begun = [queue.next(), queue.next()]
        #expect(Set(begun) == [ids[2], ids[5]])
        let step10 = queue.next()
        #expect(step10 == nil)
    }

    @Test("a full host at the head of the ring does not delay the one behind it")
    func fullHost() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1, total: 2))
        let (a, b, c) = (try host("a"), try host("b"), try host("c"))
        let tokens = (0..<4).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for (id, host) in zip(ids, [a, b, a, c]) { _ = queue.enter(id, in: queue.hostQueue(of: host)) }
        queue.leave(queue.hostQueue(of: b), ids[1], pool: 0)
        let begun = queue.next()
        #expect(begun == ids[3])
    }

    @Test("cancelled waiters are skipped")
    func givingUp() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1))
        let host = try host("a")
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids { _ = queue.enter(id, in: queue.hostQueue(of: host)) }
        let step11 = queue.giveUp(ids[1])
        #expect(step11)
        let step12 = queue.giveUp(ids[1])
        #expect(!step12)
        queue.leave(queue.hostQueue(of: host), ids[0], pool: 0)
        let step13 = queue.next()
        #expect(step13 == ids[2])
        #expect(queue.waitingCount == 0)
    }

    @Test("a host with a shared connection has room until its first response, and again when unused")
    func onceAnswered() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 2, streamsPerConnection: 3))
        var host = try host("a", .http2PriorKnowledge)
        host.sharesOnceAnswered = true
        let line = queue.hostQueue(of: host)
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids { _ = queue.enter(id, in: line) }
        queue.recordMultiplexing(of: line, isMultiplexed: false)
        let beforeAnswer = queue.next()
        queue.recordMultiplexing(of: line, isMultiplexed: true)
        let afterAnswer = queue.next()
        #expect(beforeAnswer == nil && afterAnswer == ids[2])
        for id in ids { queue.leave(line, id, pool: 0) }
        #expect(line.sharing == .unknown)
        withExtendedLifetime(tokens) {}
    }

    @Test("a host that multiplexes has room for streams, not connections")
    func multiplexing() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1, streamsPerConnection: 3))
        let host = try host("a")
        let tokens = (0..<4).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids { _ = queue.enter(id, in: queue.hostQueue(of: host)) }
        let step14 = queue.next()
        #expect(step14 == nil)
        queue.recordMultiplexing(of: queue.hostQueue(of: host), isMultiplexed: true)
        let step15 = queue.next()
        #expect(step15 == ids[1])
        let step16 = queue.next()
        #expect(step16 == ids[2])
        let step17 = queue.next()
        #expect(step17 == nil)
    }

    @Test("a host has one limit for all versions that share no connection")
    func versions() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 2))
        let lines = [
            queue.hostQueue(of: try host("a", .http1_1)), queue.hostQueue(of: try host("a", .http2PriorKnowledge)),
        ]
        let tokens = (0..<4).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        let entered = [
            queue.enter(ids[0], in: lines[0]), queue.enter(ids[1], in: lines[1]), queue.enter(ids[2], in: lines[1]),
        ]
        #expect(entered == [true, true, false])
        queue.leave(lines[0], ids[0], pool: 0)
        let next = queue.next()
        #expect(next == ids[2])
        let entersThird = queue.enter(ids[0], in: lines[0])
        let none = queue.next()
        #expect(!entersThird && none == nil)
        queue.recordMultiplexing(of: lines[1], isMultiplexed: true)
        // The transfers that now share one connection have made room.
        let called = queue.next()
        let beside = queue.enter(ids[3], in: lines[0])
        #expect(called == ids[0] && beside)
        withExtendedLifetime(tokens) {}
    }

    @Test("full hosts are not checked again until a transfer leaves")
    func fullHosts() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1))
        let lines = try (0..<1000).map { queue.hostQueue(of: try host("host\($0)")) }
        let tokens = (0..<2000).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for (index, line) in lines.enumerated() {
            _ = queue.enter(ids[index], in: line)
            _ = queue.enter(ids[index + 1000], in: line)
        }
        let blocked = queue.next()
        #expect(blocked == nil && queue.ringLength == 0)
        queue.leave(lines[7], ids[7], pool: 0)
        #expect(queue.ringLength == 1)
        let next = queue.next()
        #expect(next == ids[1007])
        withExtendedLifetime(tokens) {}
    }

    @Test("one transfer detects the version of a host, and the others follow")
    func scouts() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 4))
        let line = queue.hostQueue(of: try host("a", .http2PriorKnowledge))
        let tokens = (0..<5).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        let entered = ids.map { queue.enter($0, in: line) }
        #expect(entered == [true, true, true, true, false])
        let connecting = ids[..<4].map { queue.claimConnect($0, in: line) }
        #expect(connecting == [true, false, false, false])
        // A transfer that is cancelled while it follows is not started in place of the leader.
        queue.leave(line, ids[1], pool: nil)
        queue.leave(line, ids[0], pool: 0)
        // Nor is one that was about to start.
        queue.leave(line, ids[2], pool: nil)
        var released = queue.takeReleased()
        #expect(released == [ids[3]])
        released = queue.takeReleased()
        #expect(released == [])
        let next = queue.next()
        #expect(next == ids[4])
        let mayConnect = queue.claimConnect(ids[4], in: line)
        #expect(!mayConnect)
        queue.recordMultiplexing(of: line, isMultiplexed: true)
        released = queue.takeReleased()
        #expect(released == [ids[4]])
        let afterwards = queue.claimConnect(ids[0], in: line)
        #expect(afterwards)
        withExtendedLifetime(tokens) {}
    }

    @Test("a waiter that reuses the memory of a cancelled one waits behind the others")
    func namesakes() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1))
        let line = queue.hostQueue(of: try host("a"))
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids { _ = queue.enter(id, in: line) }
        let gaveUp = queue.giveUp(ids[1])
        let mayBegin = queue.enter(ids[1], in: line)
        #expect(gaveUp && !mayBegin)
        queue.leave(line, ids[0], pool: 0)
        let first = queue.next()
        queue.leave(line, ids[2], pool: 0)
        let second = queue.next()
        #expect([first, second] == [ids[2], ids[1]])
        withExtendedLifetime(tokens) {}
    }

    @Test("cancelled waiters are removed, however long the host is stuck")
    func forgetting() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1))
        let line = queue.hostQueue(of: try host("a"))
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        _ = queue.enter(ids[0], in: line)
        for isWaitedBeside in [false, true] {
            if isWaitedBeside { _ = queue.enter(ids[2], in: line) }
            for _ in 0..<1000 {
                _ = queue.enter(ids[1], in: line)
                _ = queue.giveUp(ids[1])
            }
            #expect(line.length == (isWaitedBeside ? 1 : 0))
        }
        let mayBegin = queue.enter(ids[1], in: line)
        queue.leave(line, ids[0], pool: 0)
        let first = queue.next()
        queue.leave(line, ids[2], pool: 0)
        let second = queue.next()
        #expect(!mayBegin && first == ids[2] && second == ids[1])
        withExtendedLifetime(tokens) {}
    }

    @Test("hosts with only cancelled waiters are removed, however long others take all room")
    func forgettingHosts() throws {
        var queue = ConnectionQueue(limits: .init(total: 1))
        let tokens = (0..<2).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        _ = queue.enter(ids[0], in: queue.hostQueue(of: try host("busy")))
        for number in 0..<10_000 {
            _ = queue.enter(ids[1], in: queue.hostQueue(of: try host("host\(number)")))
            _ = queue.giveUp(ids[1])
            let next = queue.next()
            #expect(next == nil)
        }
        #expect(queue.ringLength == 0)
        withExtendedLifetime(tokens) {}
    }

    @Test("of very many hosts, only the unused ones are removed")
    func manyHosts() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 2))
        let tokens = (0..<5).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        let busy = queue.hostQueue(of: try host("busy"))
        let begun = ids[..<2].map { queue.enter($0, in: busy) }
        let known = try (0..<1100).map { number in
            let host = try host("host\(number)")
            let line = queue.hostQueue(of: host)
            _ = queue.enter(ids[2], in: line)
            queue.leave(line, ids[2], pool: nil)
            return queue.hostQueue(of: host) === line
        }
        queue.leave(busy, ids[0], pool: nil)
        #expect(queue.hostQueue(of: try host("busy")) === busy)
        let late = ids[3...].map { queue.enter($0, in: busy) }
        #expect((begun, late) == ([true, true], [true, false]))
        #expect(known.first == true && known.last == false)
        withExtendedLifetime(tokens) {}
    }
}
