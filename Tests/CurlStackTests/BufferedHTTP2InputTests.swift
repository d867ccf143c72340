import NetworkStack
import Testing

@testable import CurlStack

@Suite("BufferedHTTP2Input")
struct BufferedHTTP2InputTests {
    private let one = Connection(EndpointPair(number: 1, slot: 0), descriptor: 1, tlsRecord: nil)
    private let other = Connection(EndpointPair(number: 2, slot: 0), descriptor: 2, tlsRecord: nil)

    private func next(of held: BufferedHTTP2Input, now: MonotonicTime = .now) -> [EndpointPair] {
        held.next(now: now).map(\.endpoints)
    }

    @Test("reads a connection again after a full buffer, until nothing arrives")
    func full() {
        let held = BufferedHTTP2Input()
        held.received(on: one, fillsBuffer: false)
        #expect(!held.isPossible(on: one) && held.next().isEmpty)
        held.received(on: one, fillsBuffer: true)
        #expect(held.isPossible(on: one) && !held.isPossible(on: other))
        #expect(next(of: held) == [one.endpoints])
        // The read has delivered bytes, however few, for this stream only.
        held.received(on: one, fillsBuffer: false)
        held.received(on: other, fillsBuffer: false)
        #expect(next(of: held) == [one.endpoints])
        #expect(held.next().isEmpty && !held.isPossible(on: one))
        held.received(on: one, fillsBuffer: false)
        #expect(held.next().isEmpty)
    }

    @Test("reads a connection four more times while a stream of it is paused")
    func paused() {
        let held = BufferedHTTP2Input()
        held.read(one)
        #expect(held.next().isEmpty)
        held.paused(true, on: one)
        held.paused(true, on: one)
        held.paused(false, on: one)
        held.read(one)
        held.read(other)
        // A full buffer does not change that.
        held.received(on: one, fillsBuffer: true)
        for _ in 1...4 { #expect(next(of: held) == [one.endpoints]) }
        #expect(held.next().isEmpty)
        held.read(one)
        for _ in 1...4 { #expect(next(of: held) == [one.endpoints]) }
        #expect(held.next().isEmpty)
        held.paused(false, on: one)
        held.read(one)
        #expect(held.next().isEmpty)
    }

    @Test("reads a connection every 50 ms while one stream is paused and another waits")
    func waiting() throws {
        let held = BufferedHTTP2Input()
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        held.waits(on: one, since: now)
        #expect(held.nextLook == nil)
        held.paused(true, on: one)
        held.waits(on: other, since: now)
        #expect(held.nextLook == nil)
        held.waits(on: one, since: now)
        let look = try #require(held.nextLook)
        #expect(look > now && look <= now + .milliseconds(50))
        #expect(held.next(now: now).isEmpty)
        #expect(next(of: held, now: look) == [one.endpoints])
        #expect(held.nextLook == nil && held.next(now: look).isEmpty)
        held.waits(on: one, since: look)
        // A deadline that remains after it has passed would make the loop spin.
        held.paused(false, on: one)
        #expect(held.nextLook == nil)
        held.waits(on: one, since: look)
        #expect(held.nextLook == nil)
    }

    @Test("looks for a fault once, when nothing has come for 50 ms")
    func faults() throws {
        let held = BufferedHTTP2Input()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        #expect(held.nextLookForFaults == nil && !held.beginLookForFaults(at: start))
        held.mayHideFault(on: one, at: start)
        held.mayHideFault(on: other, at: start)
        let look = try #require(held.nextLookForFaults)
        #expect(look == start + .milliseconds(50))
        // Bytes arrive on one of them meanwhile.
        held.mayHideFault(on: other, at: start + .milliseconds(20))
        #expect(!held.beginLookForFaults(at: start + .milliseconds(49)))
        #expect(held.beginLookForFaults(at: look))
        #expect(held.isQuiet(one, at: look) && !held.isQuiet(one, at: look) && !held.isQuiet(other, at: look))
        let second = try #require(held.nextLookForFaults)
        #expect(second > look && held.beginLookForFaults(at: second))
        #expect(!held.isQuiet(one, at: second) && held.isQuiet(other, at: second))
        #expect(held.nextLookForFaults == nil)
    }
}
