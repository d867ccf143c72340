import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("The received bytes of a fetch")
struct FetchStateBytesTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000)
    private let url = "http://host.test/"

    private let hop = 1

    /// A fetch whose first request was sent.
    private func state(_ delegate: (any FetchDelegate)? = nil) throws -> FetchState {
        var state = FetchState(options: Shared(HTTP.Options()), delegate: delegate, now: now)
        _ = state.beginAttempt(0, now: now)
        holds(state.handOver(Attempt(identifier: 0, retryState: Retry.State()), now: now).isWanted)
        holds(state.begin(try HTTP.Request(url: url), fragment: nil, source: nil, of: 1)?.number == hop)
        return state
    }

    private func head() throws -> HTTP.Response { HTTP.Response(status: 200, url: try #require(URL(string: url))) }

    private func count(_ state: borrowing FetchState) throws -> Int64 {
        state.measure(try needed(state.current(hop)), now: now).bytesReceived
    }

    @Test("are counted once if they were withheld first")
    func withheld() throws {
        for headComesFirst in [true, false] {
            var state = try state()
            if headComesFirst { _ = state.received(head: try head(), hop: hop, now: now) }
            _ = state.withheld(3, hop: hop, now: now)
            _ = state.withheld(4, hop: hop, now: now)
            holds(try count(state) == 4)
            if !headComesFirst { _ = state.received(head: try head(), hop: hop, now: now) }
            _ = state.received(body: Data(count: 4), hop: hop, now: now)
            holds(try count(state) == 4)
        }
    }

    @Test("are those of the last response, not of a challenge before it")
    func challenged() throws {
        var state = try state()
        _ = state.withheld(100, hop: hop, now: now)
        _ = state.received(head: try head(), hop: hop, now: now)
        _ = state.received(body: Data(count: 4), hop: hop, now: now)
        holds(try count(state) == 4)
    }

    @Test("stay counted if more come that decode to nothing")
    func progress() throws {
        var state = try state(FetchStateTests.StreamingDelegate())
        _ = state.received(head: try head(), hop: hop, now: now)
        state.streamed(11, hop: hop, hasRoom: true, now: now)
        _ = state.withheld(0, hop: hop, now: now)
        holds(try count(state) == 11)
    }
}
