import FoundationEssentials
import NetworkStack
import Testing

@testable import CurlStack

@Suite("ConnectionQueue without waiting transfers")
struct ConnectionQueueGoneTests {
    private final class Token {}

    private func host(_ name: String) throws -> ConnectionQueue.Host {
        .init(origin: try HTTP.Origin(of: try #require(URL(string: "http://\(name)/"))), version: .automatic)
    }

    @Test("an abandoned host is skipped")
    func passedOver() throws {
        var queue = ConnectionQueue(limits: .init(total: 1))
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        let lines = try ["busy", "left", "behind"].map { queue.hostQueue(of: try host($0)) }
        let begun = zip(ids, lines).map { queue.enter($0, in: $1) }
        #expect(begun == [true, false, false])
        _ = queue.giveUp(ids[1])
        #expect(queue.ringLength == 1)
        queue.leave(lines[0], ids[0], pool: nil)
        let next = queue.next()
        #expect(next == ids[2])
        #expect(queue.ringLength == 0 && queue.waitingCount == 0)
        withExtendedLifetime(tokens) {}
    }

    @Test("an abandoned host is removed with its last transfer")
    func forgotten() throws {
        var queue = ConnectionQueue(limits: .init(total: 2))
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        let (busy, left) = (queue.hostQueue(of: try host("busy")), queue.hostQueue(of: try host("left")))
        // Enough for hosts to be removed.
        for number in 0..<1100 { _ = queue.hostQueue(of: try host("host\(number)")) }
        let begun = [queue.enter(ids[0], in: busy), queue.enter(ids[1], in: left), queue.enter(ids[2], in: left)]
        #expect(begun == [true, true, false])
        _ = queue.giveUp(ids[2])
        #expect(queue.hostQueue(of: try host("left")) === left)
        queue.leave(left, ids[1], pool: nil)
        #expect(queue.hostQueue(of: try host("left")) !== left)
        queue.leave(busy, ids[0], pool: nil)
        let next = queue.next()
        #expect(next == nil)
        withExtendedLifetime(tokens) {}
    }

    @Test("a host at which no transfer waits any longer is removed at once")
    func forgottenAtOnce() throws {
        var queue = ConnectionQueue(limits: .init(total: 1))
        let tokens = (0..<2).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        let (busy, left) = (queue.hostQueue(of: try host("busy")), queue.hostQueue(of: try host("left")))
        for number in 0..<1100 { _ = queue.hostQueue(of: try host("host\(number)")) }
        let begun = [queue.enter(ids[0], in: busy), queue.enter(ids[1], in: left)]
        #expect(begun == [true, false])
        _ = queue.giveUp(ids[1])
        #expect(queue.ringLength == 0)
        #expect(queue.hostQueue(of: try host("left")) !== left)
        #expect(queue.hostQueue(of: try host("busy")) === busy)
        withExtendedLifetime(tokens) {}
    }

    @Test("a waiter of a removed host may still report after the origin's other waiters left")
    func forgottenTogether() throws {
        var queue = ConnectionQueue(limits: .init())
        let token = Token()
        var lines = try [HTTP.Options.VersionPolicy.http2PriorKnowledge, .http1_1].map { version in
            var host = try host("both")
            host = .init(origin: host.origin, version: version)
            return queue.hostQueue(of: host)
        }
        for number in 0..<1100 { _ = queue.hostQueue(of: try host("host\(number)")) }
        for line in lines {
            _ = queue.enter(ObjectIdentifier(token), in: line)
            queue.leave(line, ObjectIdentifier(token), pool: nil)
        }
        lines.removeLast()
        queue.recordMultiplexing(of: lines[0], isMultiplexed: true)
        #expect(lines[0].isMultiplexed)
        #expect(queue.hostQueue(of: lines[0].host) !== lines[0])
    }

    @Test("the remaining waiters keep their turns when abandoned hosts are removed")
    func kept() throws {
        var queue = ConnectionQueue(limits: .init(total: 1))
        let tokens = (0..<200).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        let lines = try ids.indices.map { queue.hostQueue(of: try host("host\($0)")) }
        let begun = zip(ids, lines).map { queue.enter($0, in: $1) }
        #expect(begun == [true] + Array(repeating: false, count: 199))
        let waiting = Set(stride(from: 1, to: 200, by: 5))
        for place in 1..<200 where !waiting.contains(place) { _ = queue.giveUp(ids[place]) }
        #expect(queue.ringLength == waiting.count)
        var last = 0
        for place in waiting.sorted() {
            queue.leave(lines[last], ids[last], pool: nil)
            let next = queue.next()
            #expect(next == ids[place])
            last = place
        }
        #expect(queue.waitingCount == 0)
        withExtendedLifetime(tokens) {}
    }
}
