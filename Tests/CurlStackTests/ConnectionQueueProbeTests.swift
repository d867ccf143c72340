import FoundationEssentials
import NetworkStack
import Testing

@testable import CurlStack

@Suite("ConnectionQueue, where a shared connection may be gone")
struct ConnectionQueueProbeTests {
    private final class Token {}

    @Test("one transfer probes for the others when the shared connection is empty or unusable")
    func probes() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 4))
        let origin = try HTTP.Origin(of: try #require(URL(string: "http://a/")))
        let line = queue.hostQueue(of: .init(origin: origin, version: .http2PriorKnowledge))
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        for isKnown in [false, true] {
            for id in ids { _ = queue.enter(id, in: line) }
            let connecting = ids.map { queue.claimConnect($0, in: line) }
            #expect(connecting == [true, false, false], "known: \(isKnown)")
            queue.recordMultiplexing(of: line, isMultiplexed: true)
            let released = queue.takeReleased()
            #expect(released == Array(ids[1...]))
            let joining = queue.claimConnect(ids[0], in: line)
            #expect(joining)
            let again = ids.map { queue.claimReconnect($0, in: line, pool: queue.takePool(in: line)) }
            let scoutAgain = queue.claimReconnect(ids[0], in: line, pool: nil)
            #expect(again == [true, false, false] && scoutAgain)
            queue.recordMultiplexing(of: line, isMultiplexed: true)
            _ = queue.takeReleased()
            for id in ids { queue.leave(line, id, pool: nil) }
        }
        withExtendedLifetime(tokens) {}
    }

    @Test("one that follows connects when another version of its host begins to share")
    func sharedBeside() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 1))
        let origin = try HTTP.Origin(of: try #require(URL(string: "https://a/")))
        let line = queue.hostQueue(of: .init(origin: origin, version: .automatic))
        let other = queue.hostQueue(of: .init(origin: origin, version: .http2PriorKnowledge))
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        _ = queue.enter(ids[0], in: line)
        queue.recordMultiplexing(of: line, isMultiplexed: true)
        let entered = [queue.enter(ids[1], in: line), queue.enter(ids[2], in: other)]
        #expect(entered == [true, true])
        let connecting = [
            queue.claimConnect(ids[2], in: other), queue.claimReconnect(ids[0], in: line, pool: nil),
            queue.claimReconnect(ids[1], in: line, pool: nil),
        ]
        #expect(connecting == [true, true, false])
        queue.recordMultiplexing(of: line, isMultiplexed: false)
        queue.leave(line, ids[0], pool: 0)
        let early = queue.takeReleased()
        queue.recordMultiplexing(of: other, isMultiplexed: true)
        let released = queue.takeReleased()
        #expect(early == [] && released == [ids[1]])
        withExtendedLifetime(tokens) {}
    }

    @Test("no more connect than the host may have connections, if it shares none any more")
    func unshared() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 2))
        let origin = try HTTP.Origin(of: try #require(URL(string: "https://a/")))
        let line = queue.hostQueue(of: .init(origin: origin, version: .automatic))
        let tokens = (0..<5).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        _ = queue.enter(ids[0], in: line)
        queue.recordMultiplexing(of: line, isMultiplexed: true)
        let others = ids[1...].map { queue.enter($0, in: line) }
        #expect(others == [true, true, true, true])
        let pools = ids.map { _ in queue.takePool(in: line) }
        let connecting = zip(ids, pools).map { queue.claimReconnect($0, in: line, pool: $1) }
        #expect(connecting == [true, false, false, false, false])
        queue.recordMultiplexing(of: line, isMultiplexed: false)
        let first = queue.takeReleased()
        #expect(first == [ids[1]])
        var waiting = ids[2...]
        for ended in ids.prefix(3) {
            queue.leave(line, ended, pool: queue.takePool(in: line))
            let released = queue.takeReleased()
            #expect(released == [waiting.removeFirst()])
        }
        withExtendedLifetime(tokens) {}
    }

    @Test("no more connect than the host may have connections, until a new shared one may be joined")
    func notJoinable() throws {
        var queue = ConnectionQueue(limits: .init(perHost: 2))
        let origin = try HTTP.Origin(of: try #require(URL(string: "http://a/")))
        let line = queue.hostQueue(of: .init(origin: origin, version: .http2PriorKnowledge, sharesOnceAnswered: true))
        let tokens = (0..<5).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        _ = queue.enter(ids[0], in: line)
        queue.recordMultiplexing(of: line, isMultiplexed: true)
        for id in ids[1...] { _ = queue.enter(id, in: line) }
        // Another connection of a host that is known to share one.
        queue.recordMultiplexing(of: line, isMultiplexed: true, mayBeJoined: false)
        #expect(line.isMultiplexed)
        let pools = ids.map { _ in queue.takePool(in: line) }
        let connecting = zip(ids, pools).map { queue.claimReconnect($0, in: line, pool: $1) }
        #expect(connecting == [true, false, false, false, false])
        queue.recordMultiplexing(of: line, isMultiplexed: true, mayBeJoined: false)
        let early = queue.takeReleased()
        queue.recordMultiplexing(of: line, isMultiplexed: true)
        let late = queue.takeReleased()
        #expect(early == [ids[1]] && late == Array(ids[2...]))
        withExtendedLifetime(tokens) {}
    }
}
