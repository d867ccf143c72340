import Dispatch
import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("The state of a fetch")
struct FetchStateTests {
    final class Transfer: HTTPTransfer {
        func cancel() {}
        func resumeReceiving() {}
        func resumeSending() {}
    }

    private let now = MonotonicTime(nanoseconds: 1_000_000_000)
    private let url = "http://host.test/start"

    /// The first attempt of a fetch.
    private let attempt = Attempt(identifier: 0, retryState: Retry.State())

    private func state(_ change: (inout HTTP.Options) -> Void = { _ in }) -> FetchState {
        var options = HTTP.Options()
        change(&options)
        var state = FetchState(options: Shared(options), now: now)
        _ = state.beginAttempt(0, now: now)
        return state
    }

    /// Begins a hop and returns its number.
    private func begin(_ state: inout FetchState, _ method: HTTP.Method = .GET) throws -> Int {
        holds(state.handOver(attempt, now: now).isWanted)
        let request = try HTTP.Request(method: method, url: url)
        return try needed(state.begin(request, fragment: nil, source: nil, of: 1)?.number)
    }

    private func head(_ status: HTTP.StatusCode = 200, _ headers: HTTP.Headers = [:]) throws -> HTTP.Response {
        HTTP.Response(status: status, headers: headers, url: try #require(URL(string: url)))
    }

    private func whole(_ step: FetchState.Step) throws -> (HTTP.Response, String) {
        guard case .settle(.whole(let response, let data, _, _), _) = step else {
            throw Unexpected(step: step)
        }
        return (response, String(decoding: data, as: UTF8.self))
    }

    private struct Unexpected: Error { let step: FetchState.Step }

    private func waits(_ step: FetchState.Step) -> Bool {
        if case .wait = step { true } else { false }
    }

    @Test("a request is handed over once, and never after the end")
    func handingOver() {
        var state = state()
        holds(state.handOver(attempt, now: now).isWanted)
        holds(!state.handOver(attempt, now: now).isWanted)
        var ended = self.state()
        _ = ended.end(.cancelled)
        holds(!ended.handOver(attempt, now: now).isWanted)
        holds(ended.beginAttempt(1, now: now) == nil)
        holds(!ended.claimReport().isFirst)
        var again = self.state()
        _ = again.settle(.failed(.badResponse(nil)), now: now)
        holds(again.claimReport().isFirst)
        holds(!again.claimReport().isFirst, "an attempt's end is reported once")
        _ = again.failed(CancellationError(), delay: nil, now: now)
        _ = again.beginAttempt(1, now: now)
        holds(!again.handOver(attempt, now: now).isWanted, "the first attempt's request comes late")
    }

    @Test("the cancelable of a maker is stored, and returned at the end or later")
    func making() {
        var state = state()
        let making = EmptyCancelable()
        holds(state.hold(making: making, of: attempt) == nil)
        holds(state.end(.cancelled)?.held.stage.pending === making)
        holds(state.hold(making: making, of: attempt) === making)
        var handedOver = self.state()
        _ = handedOver.handOver(attempt, now: now)
        holds(handedOver.hold(making: making, of: attempt) == nil)
        holds(
            handedOver.end(.cancelled)?.held.stage.pending == nil,
            "a finished maker is not cancelled"
        )
        // An attempt may time out while its request is being made, and the next attempt's maker may have started.
        for isHandedOver in [false, true] {
            var again = self.state()
            if isHandedOver { _ = again.handOver(attempt, now: now) }
            _ = again.settle(.failed(.badResponse(nil)), now: now)
            holds((again.hold(making: making, of: attempt) === making) == !isHandedOver)
            _ = again.failed(CancellationError(), delay: nil, now: now)
            _ = again.beginAttempt(1, now: now)
            holds((again.hold(making: making, of: attempt) === making) == !isHandedOver)
            holds(again.end(.cancelled)?.held.stage.pending == nil)
        }
    }

    @Test("a fetch ends once")
    func ending() {
        var state = state()
        holds(state.end(.cancelled) != nil)
        holds(state.end(.cancelled) == nil)
        holds(state.hold(ticket: 7, of: attempt) == 7)
    }

    @Test("a reader with room resumes the transfer, also if the transfer is set later")
    func goingOnEarly() throws {
        let delegate = StreamingDelegate()
        var state = FetchState(options: delegate.options, delegate: delegate, now: now)
        _ = state.beginAttempt(0, now: now)
        let hop = try begin(&state)
        guard case .open = state.received(head: try head(), hop: hop, now: now) else {
            throw Unexpected(step: .wait)
        }
        holds(state.readerResumed(now: now) == nil)
        let actions = state.hold(Transfer(), hop: hop)
        holds(actions.resumesReceiving && !actions.cancels)
        holds(state.readerResumed(now: now) != nil)
    }

    @Test("no hop begins after the end")
    func beginningLate() throws {
        var state = state()
        _ = state.end(.cancelled)
        let request = try HTTP.Request(url: url)
        holds(state.begin(request, fragment: nil, source: nil, of: 1) == nil)
    }

    @Test("a transfer that is set too late is cancelled")
    func lateTransfers() throws {
        var state = state()
        let first = try begin(&state)
        guard case .follow(let next, nil, _, _) = try redirect(&state, first) else { throw Unexpected(step: .wait) }
        let second = try needed(state.begin(next, fragment: nil, source: nil, of: 1)?.number)
        holds(state.hold(Transfer(), hop: first).cancels, "The hop was left")
        let transfer = Transfer()
        holds(!state.hold(transfer, hop: second).cancels)
        holds(state.end(.cancelled)?.held.stage.hop?.transfer === transfer)
        holds(state.hold(Transfer(), hop: second).cancels, "The fetch has ended")
    }

    private func redirect(_ state: inout FetchState, _ hop: Int) throws -> FetchState.Step {
        _ = state.received(head: try head(302, [.location: "/next"]), hop: hop, now: now)
        return state.finished(trailers: nil, metrics: .init(), hop: hop, now: now)
    }

    @Test("head, content and end make a whole response")
    func wholeResponse() throws {
        var state = state()
        let hop = try begin(&state)
        _ = state.received(head: try head(), hop: hop, now: now)
        _ = state.received(body: Data("one ".utf8), hop: hop, now: now)
        _ = state.received(body: Data("two".utf8), hop: hop, now: now)
        let step = state.finished(trailers: ["T": "t"], metrics: .init(), hop: hop, now: now + .seconds(2))
        let (response, text) = try whole(step)
        #expect(text == "one two")
        #expect(response.trailers == ["T": "t"])
        #expect(response.metrics.total == .seconds(2))
        #expect(response.metrics.hopCount == 1)
    }

    @Test("an end without a head is no response")
    func headless() throws {
        var state = state()
        let hop = try begin(&state)
        guard
            case .settle(.failed(.badResponse, _), _) = state.finished(
                trailers: nil,
                metrics: .init(),
                hop: hop,
                now: now
            )
        else {
            Issue.record("A response without a head was accepted")
            return
        }
    }

    @Test("a redirect leads to the next hop, and later events of the last one are ignored")
    func redirects() throws {
        var state = state()
        let first = try begin(&state)
        guard case .follow(let next, nil, _, _) = try redirect(&state, first) else { throw Unexpected(step: .wait) }
        #expect(next.url.path == "/next")
        holds(waits(state.received(body: Data("late".utf8), hop: first, now: now)))
        holds(waits(state.finished(trailers: nil, metrics: .init(), hop: first, now: now)))
        let second = try needed(state.begin(next, fragment: nil, source: nil, of: 1)?.number)
        #expect(second != first)
        holds(waits(state.received(body: Data("late".utf8), hop: first, now: now)))
        _ = state.received(head: try head(), hop: second, now: now)
        _ = state.received(body: Data("end".utf8), hop: second, now: now)
        let (response, text) = try whole(state.finished(trailers: nil, metrics: .init(), hop: second, now: now))
        #expect(text == "end", "the redirect's body is not part of the response")
        #expect(response.redirects.map(\.status) == [302])
        #expect(response.redirects.map { $0.url.path } == ["/start"])
    }

    @Test("a redirect's long body is not awaited, with a length or without")
    func longRedirects() throws {
        for hasLength in [true, false] {
            var state = state()
            let hop = try begin(&state)
            let transfer = Transfer()
            _ = state.hold(transfer, hop: hop)
            let length = hasLength ? ["Content-Length": "65537"] as HTTP.Headers : [:]
            var fields: HTTP.Headers = length
            fields[.location] = "/next"
            var step = state.received(head: try head(302, fields), hop: hop, now: now)
            if !hasLength {
                if case .wait = step {} else { Issue.record("The hop was left before the limit") }
                step = state.received(body: Data(count: 65_536), hop: hop, now: now)
                if case .wait = step {} else { Issue.record("The hop was left before the limit") }
                step = state.received(body: Data(count: 1), hop: hop, now: now)
            }
            guard case .follow(_, let abandoned, _, _) = step else { throw Unexpected(step: step) }
            #expect(abandoned === transfer)
        }
    }

    @Test("a body beyond the limit is refused when announced, received or held; the limit passes")
    func limits() throws {
        func isTooLarge(_ step: FetchState.Step) -> Bool {
            if case .settle(.failed(.bodyTooLarge(limit: 10, _), _), _) = step { true } else { false }
        }
        for (count, refuses) in [(10, false), (11, true)] {
            var announced = state { $0.limits.body = 10 }
            let hop = try begin(&announced)
            let step = announced.received(head: try head(200, ["Content-Length": "\(count)"]), hop: hop, now: now)
            #expect(isTooLarge(step) == refuses)

            var received = state { $0.limits.body = 10 }
            let other = try begin(&received)
            _ = received.received(head: try head(), hop: other, now: now)
            _ = received.received(body: Data(count: 4), hop: other, now: now)
            holds(isTooLarge(received.received(body: Data(count: count - 4), hop: other, now: now)) == refuses)

            var held = state { $0.limits.body = 10 }
            let third = try begin(&held)
            _ = held.received(head: try head(), hop: third, now: now)
            holds(isTooLarge(held.withheld(Int64(count), hop: third, now: now)) == refuses)
        }
    }

    @Test("a length without a body is ignored: HEAD and 304")
    func lengthsWithoutContent() throws {
        for (method, status) in [(HTTP.Method.HEAD, HTTP.StatusCode.ok), (.GET, .notModified)] {
            var state = state { $0.limits.body = 10 }
            let hop = try begin(&state, method)
            let step = state.received(head: try head(status, ["Content-Length": "1000"]), hop: hop, now: now)
            if case .wait = step {} else { Issue.record("\(method) \(status) was refused") }
        }
    }

    @Test("events after the end are ignored")
    func late() throws {
        var state = state()
        let hop = try begin(&state)
        _ = state.end(.cancelled)
        holds(waits(state.received(head: try head(), hop: hop, now: now)))
        holds(waits(state.received(body: Data(count: 1), hop: hop, now: now)))
        holds(waits(state.withheld(1, hop: hop, now: now)))
        holds(waits(state.finished(trailers: nil, metrics: .init(), hop: hop, now: now)))
        holds(!state.isCurrent(hop))
        holds(state.sourceIsReady() == nil)
    }

    @Test("a fetch that has ended retains no state")
    func lettingGo() throws {
        var state = state()
        holds(state.handOver(attempt, now: now).isWanted)
        holds(state.settle(.failed(.badResponse(nil)), now: now) != nil)
        holds(state.failed(CancellationError(), delay: 1, now: now)?.errors.count == 1)
        holds(state.beginAttempt(1, now: now) != nil)
        state.redirects = [.init(url: try #require(URL(string: url)), status: 302)]
        holds(state.end(.cancelled) != nil)
        #expect(state.attempt == nil && state.redirects.isEmpty)
        #expect(state.delegate == nil && state.stage.hop == nil && state.stage.pending == nil)
    }

    @Test("a source that is ready before its transfer is set resumes it later, once")
    func readySources() throws {
        var state = state()
        let hop = try begin(&state)
        holds(state.sourceIsReady() == nil)
        let transfer = Transfer()
        holds(state.hold(transfer, hop: hop).resumesSending)
        holds(!state.hold(transfer, hop: hop).resumesSending)
        holds(state.sourceIsReady() === transfer)
    }
}
