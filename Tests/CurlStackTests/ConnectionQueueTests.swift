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

    @Test("lets as many begin as there is room for, and the rest in order")
    func order() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 2))
        let host = try host("a")
        let tokens = (0..<5).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        let entered = ids.map { queue.enter($0, in: queue.line(of: host)) }
        #expect(entered == [true, true, false, false, false])
        let step1 = queue.next()
        #expect(step1 == nil)
        queue.leave(queue.line(of: host), pool: 0)
        let step2 = queue.next()
        #expect(step2 == ids[2])
        let step3 = queue.next()
        #expect(step3 == nil)
        queue.leave(queue.line(of: host), pool: 0)
        queue.leave(queue.line(of: host), pool: 0)
        let step4 = queue.next()
        #expect(step4 == ids[3])
        let step5 = queue.next()
        #expect(step5 == ids[4])
        withExtendedLifetime(tokens) {}
    }

    @Test("a newcomer does not overtake those who wait")
    func noOvertaking() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1))
        let host = try host("a")
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        _ = queue.enter(ids[0], in: queue.line(of: host))
        _ = queue.enter(ids[1], in: queue.line(of: host))
        queue.leave(queue.line(of: host), pool: 0)
        let step6 = queue.enter(ids[2], in: queue.line(of: host))
        #expect(!step6)
        let step7 = queue.next()
        #expect(step7 == ids[1])
    }

    @Test("a busy host leaves room for another, and hosts take turns at the total limit")
    func hosts() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 2, total: 3))
        let (a, b) = (try host("a"), try host("b"))
        let tokens = (0..<8).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids[..<4] { _ = queue.enter(id, in: queue.line(of: a)) }
        let step8 = queue.enter(ids[4], in: queue.line(of: b))
        #expect(step8)
        let step9 = queue.enter(ids[5], in: queue.line(of: b))
        #expect(!step9)
        queue.leave(queue.line(of: a), pool: 0)
        queue.leave(queue.line(of: a), pool: 0)
        let begun = [queue.next(), queue.next()]
        #expect(Set(begun) == [ids[2], ids[5]])
        let step10 = queue.next()
        #expect(step10 == nil)
    }

    @Test("a full host at the head of the ring does not hold up the one behind it")
    func fullHost() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1, total: 2))
        let (a, b, c) = (try host("a"), try host("b"), try host("c"))
        let tokens = (0..<4).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for (id, host) in zip(ids, [a, b, a, c]) { _ = queue.enter(id, in: queue.line(of: host)) }
        queue.leave(queue.line(of: b), pool: 0)
        let begun = queue.next()
        #expect(begun == ids[3])
    }

    @Test("those who gave up are passed over")
    func givingUp() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1))
        let host = try host("a")
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids { _ = queue.enter(id, in: queue.line(of: host)) }
        let step11 = queue.giveUp(ids[1])
        #expect(step11)
        let step12 = queue.giveUp(ids[1])
        #expect(!step12)
        queue.leave(queue.line(of: host), pool: 0)
        let step13 = queue.next()
        #expect(step13 == ids[2])
        #expect(queue.waitingCount == 0)
    }

    @Test("a host that multiplexes has room for streams, not connections")
    func multiplexing() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1, streamsPerConnection: 3))
        let host = try host("a")
        let tokens = (0..<4).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids { _ = queue.enter(id, in: queue.line(of: host)) }
        let step14 = queue.next()
        #expect(step14 == nil)
        queue.learned(queue.line(of: host), isMultiplexed: true)
        let step15 = queue.next()
        #expect(step15 == ids[1])
        let step16 = queue.next()
        #expect(step16 == ids[2])
        let step17 = queue.next()
        #expect(step17 == nil)
        let prior = try self.host("a", .http2PriorKnowledge)
        let first = queue.enter(ids[0], in: queue.line(of: prior))
        let second = queue.enter(ids[1], in: queue.line(of: prior))
        #expect(first && !second)
        queue.learned(queue.line(of: prior), isMultiplexed: true)
        let next = queue.next()
        #expect(next == ids[1])
    }
}
