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
        #expect(ids.map { queue.enter($0, for: host) } == [true, true, false, false, false])
        #expect(queue.next() == nil)
        queue.leave(host)
        #expect(queue.next() == ids[2])
        #expect(queue.next() == nil)
        queue.leave(host)
        queue.leave(host)
        #expect(queue.next() == ids[3])
        #expect(queue.next() == ids[4])
        withExtendedLifetime(tokens) {}
    }

    @Test("a newcomer does not overtake those who wait")
    func noOvertaking() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1))
        let host = try host("a")
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        _ = queue.enter(ids[0], for: host)
        _ = queue.enter(ids[1], for: host)
        queue.leave(host)
        #expect(!queue.enter(ids[2], for: host))
        #expect(queue.next() == ids[1])
    }

    @Test("a busy host leaves room for another, and hosts take turns at the total limit")
    func hosts() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 2, total: 3))
        let (a, b) = (try host("a"), try host("b"))
        let tokens = (0..<8).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids[..<4] { _ = queue.enter(id, for: a) }
        #expect(queue.enter(ids[4], for: b))
        #expect(!queue.enter(ids[5], for: b))
        queue.leave(a)
        queue.leave(a)
        let begun = [queue.next(), queue.next()]
        #expect(Set(begun) == [ids[2], ids[5]])
        #expect(queue.next() == nil)
    }

    @Test("those who gave up are passed over")
    func givingUp() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1))
        let host = try host("a")
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids { _ = queue.enter(id, for: host) }
        #expect(queue.giveUp(ids[1]))
        #expect(!queue.giveUp(ids[1]))
        queue.leave(host)
        #expect(queue.next() == ids[2])
        #expect(queue.waitingCount == 0)
    }

    @Test("a host that multiplexes has room for streams, not connections")
    func multiplexing() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1, streamsPerConnection: 3))
        let host = try host("a")
        let tokens = (0..<4).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for id in ids { _ = queue.enter(id, for: host) }
        #expect(queue.next() == nil)
        queue.learned(host, isMultiplexed: true)
        #expect(queue.next() == ids[1])
        #expect(queue.next() == ids[2])
        #expect(queue.next() == nil)
        let prior = try self.host("a", .http2PriorKnowledge)
        #expect(queue.enter(ids[0], for: prior))
        #expect(queue.enter(ids[1], for: prior))
    }
}
