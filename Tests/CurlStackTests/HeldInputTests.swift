import Testing

@testable import CurlStack

@Suite("HeldInput")
struct HeldInputTests {
    private let one = OpenSockets.Ends(number: 1, pool: 0)
    private let other = OpenSockets.Ends(number: 2, pool: 0)

    @Test("reads a connection again after a full buffer, until nothing arrives")
    func full() {
        let held = HeldInput()
        held.received(at: one, fillsBuffer: false)
        #expect(!held.isPossible(at: one) && held.next().isEmpty)
        held.received(at: one, fillsBuffer: true)
        #expect(held.isPossible(at: one) && !held.isPossible(at: other))
        #expect(held.next() == [one])
        // The look has brought something, however little it was, for this one alone.
        held.received(at: one, fillsBuffer: false)
        held.received(at: other, fillsBuffer: false)
        #expect(held.next() == [one])
        #expect(held.next().isEmpty && !held.isPossible(at: one))
        held.received(at: one, fillsBuffer: false)
        #expect(held.next().isEmpty)
    }

    @Test("reads a connection four more times while a stream of it is paused")
    func paused() {
        let held = HeldInput()
        held.read(one)
        #expect(held.next().isEmpty)
        held.paused(true, at: one)
        held.paused(true, at: one)
        held.paused(false, at: one)
        held.read(one)
        held.read(other)
        // A full buffer takes nothing from that.
        held.received(at: one, fillsBuffer: true)
        for _ in 1...4 { #expect(held.next() == [one]) }
        #expect(held.next().isEmpty)
        held.read(one)
        for _ in 1...4 { #expect(held.next() == [one]) }
        #expect(held.next().isEmpty)
        held.paused(false, at: one)
        held.read(one)
        #expect(held.next().isEmpty)
    }

    @Test("reads a connection every 50 ms while one stream is paused and another waits")
    func waiting() throws {
        let held = HeldInput()
        let now = MonotonicInstant(milliseconds: 1_000)
        held.waits(at: one, since: now)
        #expect(held.nextLook == nil)
        held.paused(true, at: one)
        held.waits(at: other, since: now)
        #expect(held.nextLook == nil)
        held.waits(at: one, since: now)
        let look = try #require(held.nextLook)
        #expect(look > now && look <= now.after(.milliseconds(50)))
        #expect(held.next(now: now).isEmpty)
        #expect(held.next(now: look) == [one])
        #expect(held.nextLook == nil && held.next(now: look).isEmpty)
        held.waits(at: one, since: look)
        // A moment that stays after it has passed would make the loop spin.
        held.paused(false, at: one)
        #expect(held.nextLook == nil)
        held.waits(at: one, since: look)
        #expect(held.nextLook == nil)
    }
}
