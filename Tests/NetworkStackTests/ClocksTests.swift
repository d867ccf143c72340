import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("The clocks of a fetch")
struct ClocksTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func clocks(_ timeouts: HTTP.Options.Timeouts) -> FetchClocks {
        FetchClocks(timeouts, startedAt: start)
    }

    private func expired(_ clocks: FetchClocks, after: Duration) -> String? {
        if case .expired(let timeout, let phase) = clocks.read(start + after) {
            "\(timeout) while \(phase)"
        } else {
            nil
        }
    }

    private func next(_ clocks: FetchClocks, after: Duration) -> Duration? {
        if case .running(until: let time) = clocks.read(start + after) { time - start } else { nil }
    }

    @Test("the first check is due for the earliest timeout")
    func firstDeadline() {
        #expect(clocks(.init(idle: .seconds(60))).firstDeadline - start == .seconds(60))
        let senseless = clocks(.init(idle: .seconds(60), total: .seconds(-1)))
        #expect(senseless.firstDeadline == start, "no value traps")
        #expect(
            clocks(.init(firstByte: .seconds(3), idle: .seconds(60), total: .seconds(5))).firstDeadline - start
                == .seconds(3)
        )
        #expect(
            clocks(.init(firstByte: .seconds(9), idle: .seconds(60), total: .seconds(5))).firstDeadline - start
                == .seconds(5)
        )
    }

    @Test("the idle clock stops while the request is made or queued")
    func notStarted() {
        var clocks = clocks(.init(idle: .seconds(1)))
        #expect(expired(clocks, after: .seconds(100)) == nil)
        clocks.queued()
        #expect(expired(clocks, after: .seconds(100)) == nil)
        #expect(next(clocks, after: .seconds(100)) == .seconds(101))
    }

    @Test("the connect clock runs from the first phase without a connection to the last")
    func connect() {
        var clocks = clocks(.init(connect: .seconds(1), idle: .seconds(60)))
        #expect(clocks.firstDeadline - start == .seconds(1))
        clocks.queued()
        #expect(expired(clocks, after: .seconds(5)) == nil)
        clocks.entered(.connecting, now: start + .seconds(5))
        clocks.entered(.securing, now: start + .milliseconds(5900))
        #expect(next(clocks, after: .milliseconds(5950)) == .seconds(6))
        #expect(expired(clocks, after: .seconds(6)) == "connect while securing")
        clocks.entered(.sending, now: start + .milliseconds(5990))
        #expect(expired(clocks, after: .seconds(30)) == nil)
        clocks.entered(.connecting, now: start + .seconds(30))
        #expect(expired(clocks, after: .milliseconds(30_999)) == nil)
        #expect(expired(clocks, after: .seconds(31)) == "connect while waiting")
    }

    @Test("events during the upload do not stop the first-byte clock")
    func comingWhileSending() {
        var clocks = clocks(.init(firstByte: .seconds(1), idle: .seconds(60)))
        clocks.entered(.sending, now: start)
        clocks.progressed(now: start + .milliseconds(900))
        #expect(expired(clocks, after: .seconds(1)) == "firstByte while sending")
        clocks.sent(now: start + .milliseconds(900))
        #expect(expired(clocks, after: .milliseconds(1899)) == nil)
    }

    @Test("no clock claims an unsent request after one was sent")
    func phasesAfterSending() {
        var clocks = clocks(.init(idle: .seconds(1)))
        clocks.entered(.connecting, now: start)
        #expect(expired(clocks, after: .seconds(1)) == "idle while connecting")
        clocks.entered(.sending, now: start)
        clocks.entered(.connecting, now: start)
        #expect(expired(clocks, after: .seconds(1)) == "idle while waiting")
        clocks.beganAttempt(now: start)
        clocks.entered(.connecting, now: start)
        #expect(expired(clocks, after: .seconds(1)) == "idle while connecting")
        // A queued request has only prefetched its body.
        for (isSameHop, phase) in [(true, "connecting"), (false, "waiting")] {
            clocks.beganAttempt(now: start)
            clocks.entered(.sending, now: start)
            clocks.entered(.queued, now: start, isSameHop: isSameHop)
            clocks.entered(.connecting, now: start, isSameHop: true)
            #expect(expired(clocks, after: .seconds(1)) == "idle while \(phase)")
        }
        // A redirect.
        clocks.beganAttempt(now: start)
        clocks.entered(.receiving, now: start)
        clocks.queued()
        clocks.entered(.connecting, now: start)
        #expect(expired(clocks, after: .seconds(1)) == "idle while waiting")
    }

    @Test("the idle clock runs in every phase on the wire", arguments: HTTP.Phase.allCases.dropFirst(2).dropLast(2))
    func idle(_ phase: HTTP.Phase) {
        var clocks = clocks(.init(idle: .seconds(1)))
        clocks.entered(phase, now: start)
        #expect(expired(clocks, after: .milliseconds(999)) == nil)
        #expect(expired(clocks, after: .seconds(1)) == "idle while \(phase)")
        clocks.progressed(now: start + .milliseconds(900))
        #expect(expired(clocks, after: .milliseconds(1899)) == nil)
        #expect(next(clocks, after: .milliseconds(1000)) == .milliseconds(1900))
        #expect(expired(clocks, after: .milliseconds(1900)) == "idle while \(phase)")
    }

    @Test("each attempt has its own clock, which stops between attempts; all share the total")
    func attempts() {
        var clocks = clocks(.init(idle: .seconds(60), attempt: .seconds(2), total: .seconds(10)))
        #expect(clocks.firstDeadline - start == .seconds(2))
        clocks.entered(.waiting, now: start)
        #expect(expired(clocks, after: .seconds(2)) == "attempt while waiting")
        for phase in [HTTP.Phase.settling, .delayed] {
            clocks.entered(phase, now: start + .seconds(2))
            #expect(next(clocks, after: .seconds(5)) == .seconds(10))
        }
        clocks.beganAttempt(now: start + .seconds(5))
        #expect(clocks.firstDeadline - start == .seconds(7))
        clocks.entered(.waiting, now: start + .seconds(5))
        #expect(expired(clocks, after: .milliseconds(6999)) == nil)
        #expect(expired(clocks, after: .seconds(7)) == "attempt while waiting")
        clocks.beganAttempt(now: start + .seconds(9))
        #expect(expired(clocks, after: .seconds(10)) == "total while making")
    }

    @Test("an attempt with an opened stream cannot time out any more; the fetch can")
    func openedStreams() {
        var clocks = clocks(.init(idle: .seconds(60), attempt: .seconds(2), total: .seconds(10)))
        clocks.entered(.receiving, now: start)
        #expect(expired(clocks, after: .seconds(2)) == "attempt while receiving")
        clocks.opened()
        #expect(next(clocks, after: .seconds(2)) == .seconds(10))
        #expect(expired(clocks, after: .seconds(10)) == "total while receiving")
    }

    @Test("the idle clock stops while the receiver pauses")
    func heldBack() {
        var clocks = clocks(.init(idle: .seconds(1), total: .seconds(10)))
        clocks.entered(.receiving, now: start)
        clocks.heldBack(true, now: start)
        #expect(expired(clocks, after: .seconds(5)) == nil)
        #expect(expired(clocks, after: .seconds(10)) == "total while receiving")
        clocks.heldBack(false, now: start + .seconds(5))
        #expect(expired(clocks, after: .milliseconds(5999)) == nil)
        #expect(expired(clocks, after: .seconds(6)) == "idle while receiving")
    }

    @Test("the first-byte clock runs from the last byte sent to the head")
    func firstByte() {
        var clocks = clocks(.init(firstByte: .seconds(1), idle: .seconds(60)))
        clocks.entered(.connecting, now: start)
        #expect(expired(clocks, after: .seconds(5)) == nil)
        clocks.entered(.waiting, now: start + .seconds(5))
        #expect(expired(clocks, after: .milliseconds(5999)) == nil)
        #expect(expired(clocks, after: .seconds(6)) == "firstByte while waiting")
        clocks.entered(.receiving, now: start + .milliseconds(5500))
        #expect(expired(clocks, after: .seconds(30)) == nil)
    }

    @Test("events before the head, such as informational responses, keep the first-byte clock running")
    func informational() {
        var clocks = clocks(.init(firstByte: .seconds(1), idle: .seconds(60)))
        clocks.entered(.sending, now: start)
        clocks.sent(now: start + .milliseconds(800))
        #expect(expired(clocks, after: .milliseconds(1500)) == nil, "bytes were sent later")
        clocks.entered(.waiting, now: start + .seconds(1))
        clocks.progressed(now: start + .milliseconds(1900))
        #expect(expired(clocks, after: .milliseconds(1999)) == nil)
        #expect(expired(clocks, after: .seconds(2)) == "firstByte while waiting")
    }

    @Test("the total clock always runs, and is reported first")
    func total() {
        var clocks = clocks(.init(firstByte: .seconds(2), idle: .seconds(2), total: .seconds(2)))
        #expect(expired(clocks, after: .milliseconds(1999)) == nil)
        #expect(expired(clocks, after: .seconds(2)) == "total while making")
        clocks.entered(.waiting, now: start)
        #expect(expired(clocks, after: .seconds(2)) == "total while waiting")
    }

    @Test("the next check is never later than the earliest timeout")
    func nextLook() {
        var clocks = clocks(.init(firstByte: .milliseconds(300), idle: .seconds(60), total: .seconds(90)))
        clocks.entered(.connecting, now: start)
        #expect(next(clocks, after: .seconds(1)) == .milliseconds(1300), "the wait for the head may begin at once")
        clocks.entered(.waiting, now: start + .seconds(1))
        #expect(next(clocks, after: .milliseconds(1200)) == .milliseconds(1300))
        clocks.entered(.receiving, now: start + .seconds(80))
        #expect(next(clocks, after: .seconds(89)).map { $0 <= .seconds(90) } == true)
    }
}

@Suite("The delivery of a completion")
struct DeliveryTests {
    private enum Moment { case later, inPlace, onQueue }

    private func name(_ moment: consuming Delivery.Moment) -> Moment {
        switch consume moment {
        case .later: .later
        case .inPlace: .inPlace
        case .onQueue: .onQueue
        }
    }

    private func end(_ delivery: inout Delivery, with ending: Ending) -> Moment {
        var delegate: (any FetchDelegate)?
        return name(delivery.ended(ending, by: &delegate))
    }

    @Test("waits until fetch has returned, and happens once")
    func once() {
        var delivery = Delivery()
        #expect(end(&delivery, with: .cancelled) == .later)
        #expect(name(delivery.returned()) == .onQueue)
        #expect(end(&delivery, with: .cancelled) == .later)
        holds(delivery.take() != nil)
        holds(delivery.take() == nil)
        #expect(name(delivery.returned()) == .later)
    }

    @Test("comes with the end when fetch returned before")
    func later() {
        var delivery = Delivery()
        #expect(name(delivery.returned()) == .later)
        #expect(end(&delivery, with: .failed(.badResponse(nil))) == .onQueue)
        #expect(end(&delivery, with: .failed(.badResponse(nil))) == .later)
    }

    @Test("takes the delegate, and leaves it where the completion was called before")
    func delegate() {
        let serving = FetchStateTests.StreamingDelegate()
        var delivery = Delivery()
        var delegate: (any FetchDelegate)? = serving
        _ = delivery.ended(.failed(.badResponse(nil)), by: &delegate)
        #expect(delegate == nil)
        delegate = serving
        _ = delivery.ended(.cancelled, by: &delegate)
        #expect(delegate === serving)
    }

    @Test("stays on the queue for all that runs user code")
    func inPlace() throws {
        let request = try HTTP.Request(url: "http://host.test/")
        for (status, moment) in [(200, Moment.inPlace), (204, .inPlace), (404, .onQueue), (302, .onQueue)] {
            var delivery = Delivery(completesInPlace: true)
            _ = delivery.returned()
            let response = HTTP.Response(status: .init(status), url: request.url)
            #expect(end(&delivery, with: .whole(response, .init(), method: .GET, fails: status >= 300)) == moment)
        }
    }
}
