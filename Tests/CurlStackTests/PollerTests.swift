import CCurl
import Glibc
import Testing

@testable import CurlStack

@Suite("Poller")
struct PollerTests {
    @Test("a closed socket that another process has does not end a wait")
    func inherited() throws {
        let poller = Poller(waker: Waker())
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        let (own, peer) = (pair[0], pair[1])
        poller.opened(own)
        poller.connected(own)
        poller.watch(own, for: 0, reads: true, writes: false)
        // As a child has it after `fork`.
        let copy = dup(own)
        poller.closed(own)
        close(own)
        close(peer)
        defer { close(copy) }
        var events: [Poller.Event] = []
        let start = ContinuousClock.now
        poller.wait(milliseconds: 50, into: &events)
        #expect(events.isEmpty && .now - start >= .milliseconds(50))
    }
}
