import Dispatch
import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("The state of an exchange")
struct ExchangeStateTests {
    final class Transfer: HTTPTransfer {
        func cancel() {}
        func resumeReceiving() {}
        func resumeSending() {}
    }

    /// A fetch whose content is streamed.
    final class StreamingSteps: ExchangeSteps {
        let context = ExchangeContext(
            configuration: .init(),
            obstacleToPinning: nil,
            queue: .global(),
            retryQueue: .global()
        )
        let receiver: StreamReceiver? = StreamReceiver()
        /// What the fetch was completed with.
        let endings = Lock<[Ending]>([])
        var options: Shared<HTTP.Options> { context.options }

        func make(_ attempt: Attempt, _ handler: @escaping MadeRequestHandler) -> any Cancelable { EmptyCancelable() }
        func start(_ hop: HTTPHop, for exchange: Exchange, number: Int) -> any HTTPTransfer { Transfer() }
        func complete(_ ending: Ending, telling attempt: Attempt?) { endings.withLock { $0.append(ending) } }
    }

    private let now = MonotonicTime(nanoseconds: 1_000_000_000)
    private let url = "http://host.test/start"

    /// The first attempt of a fetch.
    private let attempt = Attempt(identifier: 0, retryState: Retry.State())

    private func state(_ change: (inout HTTP.Options) -> Void = { _ in }) -> ExchangeState {
        var options = HTTP.Options()
        change(&options)
        var state = ExchangeState(options: Shared(options), now: now)
        _ = state.beginAttempt(0, now: now)
        return state
    }

    /// Begins a hop and answers its number.
    private func begin(_ state: inout ExchangeState, _ method: HTTP.Method = .GET) throws -> Int {
        holds(state.handOver(attempt).isWanted)
        let request = try HTTP.Request(method: method, url: url)
        return try needed(state.begin(request, fragment: nil, source: nil, of: 1))
    }

    private func head(_ status: HTTP.StatusCode = 200, _ headers: HTTP.Headers = [:]) throws -> HTTP.Response {
        HTTP.Response(status: status, headers: headers, url: try #require(URL(string: url)))
    }

    private func whole(_ verdict: ExchangeState.Verdict) throws -> (HTTP.Response, String) {
        guard case .end(.whole(let response, let data, _)) = verdict else {
            throw Unexpected(verdict: verdict)
        }
        return (response, String(decoding: data, as: UTF8.self))
    }

    private struct Unexpected: Error { let verdict: ExchangeState.Verdict }

    private func isIgnored(_ verdict: ExchangeState.Verdict) -> Bool {
        if case .ignore = verdict { true } else { false }
    }

    @Test("a request is handed over once, and never after the end")
    func handingOver() {
        var state = state()
        holds(state.handOver(attempt).isWanted)
        holds(!state.handOver(attempt).isWanted)
        var ended = self.state()
        _ = ended.end(.cancelled)
        holds(!ended.handOver(attempt).isWanted)
        holds(ended.beginAttempt(1, now: now) == nil)
        holds(ended.tell().tells == false)
        var again = self.state()
        _ = again.settle(.failed(.badResponse), now: now)
        holds(again.tell().tells)
        holds(!again.tell().tells, "an attempt's end is told once")
        _ = again.failed(CancellationError(), delay: nil, now: now)
        _ = again.beginAttempt(1, now: now)
        holds(!again.handOver(attempt).isWanted, "the first attempt's request comes late")
    }

    @Test("the cancelable of a making is kept, and returned at the end or right after")
    func making() {
        var state = state()
        let making = EmptyCancelable()
        holds(state.hold(making: making, of: attempt) == nil)
        holds(state.end(.cancelled)?.remains.pending === making)
        holds(state.hold(making: making, of: attempt) === making)
        var handedOver = self.state()
        _ = handedOver.handOver(attempt)
        holds(handedOver.hold(making: making, of: attempt) == nil)
        holds(handedOver.end(.cancelled)?.remains.pending == nil, "what has made a request is not cancelled any more")
        // An attempt's time may run out while its request is being made, and the next one's making may have begun.
        for isHandedOver in [false, true] {
            var again = self.state()
            if isHandedOver { _ = again.handOver(attempt) }
            _ = again.settle(.failed(.badResponse), now: now)
            holds((again.hold(making: making, of: attempt) === making) == !isHandedOver)
            _ = again.failed(CancellationError(), delay: nil, now: now)
            _ = again.beginAttempt(1, now: now)
            holds((again.hold(making: making, of: attempt) === making) == !isHandedOver)
            holds(again.end(.cancelled)?.remains.pending == nil)
        }
    }

    @Test("it ends once")
    func ending() {
        var state = state()
        holds(state.end(.cancelled) != nil)
        holds(state.end(.cancelled) == nil)
        holds(state.hold(ticket: 7, of: attempt) == 7)
    }

    @Test("a reader with room is reported to the transfer, even if it is known later")
    func goingOnEarly() throws {
        let steps = StreamingSteps()
        var state = ExchangeState(options: steps.options, steps: steps, now: now)
        _ = state.beginAttempt(0, now: now)
        let hop = try begin(&state)
        guard case .open = state.received(head: try head(), hop: hop, now: now) else {
            throw Unexpected(verdict: .ignore)
        }
        holds(state.goesOn(now: now) == nil)
        let told = state.hold(Transfer(), hop: hop)
        holds(told.resumesReceiving && !told.cancels)
        holds(state.goesOn(now: now) != nil)
    }

    @Test("a hop begins no more after the end")
    func beginningLate() throws {
        var state = state()
        _ = state.end(.cancelled)
        let request = try HTTP.Request(url: url)
        holds(state.begin(request, fragment: nil, source: nil, of: 1) == nil)
    }

    @Test("a transfer that is known too late is cancelled")
    func lateTransfers() throws {
        var state = state()
        let first = try begin(&state)
        guard case .follow(let next, nil, _) = try redirect(&state, first) else { throw Unexpected(verdict: .ignore) }
        let second = try needed(state.begin(next, fragment: nil, source: nil, of: 1))
        holds(state.hold(Transfer(), hop: first).cancels, "the hop was left")
        let transfer = Transfer()
        holds(!state.hold(transfer, hop: second).cancels)
        holds(state.end(.cancelled)?.remains.transfer === transfer)
        holds(state.hold(Transfer(), hop: second).cancels, "the exchange has ended")
    }

    private func redirect(_ state: inout ExchangeState, _ hop: Int) throws -> ExchangeState.Verdict {
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
        let verdict = state.finished(trailers: ["T": "t"], metrics: .init(), hop: hop, now: now + .seconds(2))
        let (response, text) = try whole(verdict)
        #expect(text == "one two")
        #expect(response.trailers == ["T": "t"])
        #expect(response.metrics.total == .seconds(2))
        #expect(response.metrics.hopCount == 1)
    }

    @Test("an end without a head is no response")
    func headless() throws {
        var state = state()
        let hop = try begin(&state)
        guard case .end(.failed(.badResponse, _)) = state.finished(trailers: nil, metrics: .init(), hop: hop, now: now)
        else {
            Issue.record("a response without a head was taken")
            return
        }
    }

    @Test("a redirect starts the next hop, and later events of the last are ignored")
    func redirects() throws {
        var state = state()
        let first = try begin(&state)
        guard case .follow(let next, nil, _) = try redirect(&state, first) else { throw Unexpected(verdict: .ignore) }
        #expect(next.url.path == "/next")
        holds(isIgnored(state.received(body: Data("late".utf8), hop: first, now: now)))
        holds(isIgnored(state.finished(trailers: nil, metrics: .init(), hop: first, now: now)))
        let second = try needed(state.begin(next, fragment: nil, source: nil, of: 1))
        #expect(second != first)
        _ = state.received(head: try head(), hop: second, now: now)
        _ = state.received(body: Data("end".utf8), hop: second, now: now)
        let (response, text) = try whole(state.finished(trailers: nil, metrics: .init(), hop: second, now: now))
        #expect(text == "end", "a redirect's own content is not part of it")
        #expect(response.redirects.map(\.status) == [302])
        #expect(response.redirects.map { $0.url.path } == ["/start"])
    }

    @Test("a redirect's long body is not awaited, with a length or without")
    func longRedirects() throws {
        for saysLength in [true, false] {
            var state = state()
            let hop = try begin(&state)
            let transfer = Transfer()
            _ = state.hold(transfer, hop: hop)
            let length = saysLength ? ["Content-Length": "65537"] as HTTP.Headers : [:]
            var fields: HTTP.Headers = length
            fields[.location] = "/next"
            var verdict = state.received(head: try head(302, fields), hop: hop, now: now)
            if !saysLength {
                if case .goOn = verdict {} else { Issue.record("left before there was too much") }
                verdict = state.received(body: Data(count: 65_536), hop: hop, now: now)
                if case .goOn = verdict {} else { Issue.record("left before there was too much") }
                verdict = state.received(body: Data(count: 1), hop: hop, now: now)
            }
            guard case .follow(_, let abandoned, _) = verdict else { throw Unexpected(verdict: verdict) }
            #expect(abandoned === transfer)
        }
    }

    @Test("a body beyond the limit is refused when announced, received or held; the limit passes")
    func limits() throws {
        func isTooLarge(_ verdict: ExchangeState.Verdict) -> Bool {
            if case .end(.failed(.bodyTooLarge(limit: 10), _)) = verdict { true } else { false }
        }
        for (count, refuses) in [(10, false), (11, true)] {
            var said = state { $0.limits.body = 10 }
            let hop = try begin(&said)
            let verdict = said.received(head: try head(200, ["Content-Length": "\(count)"]), hop: hop, now: now)
            #expect(isTooLarge(verdict) == refuses)

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

    @Test("a length without content counts for nothing: HEAD and 304")
    func lengthsWithoutContent() throws {
        for (method, status) in [(HTTP.Method.HEAD, HTTP.StatusCode.ok), (.GET, .notModified)] {
            var state = state { $0.limits.body = 10 }
            let hop = try begin(&state, method)
            let verdict = state.received(head: try head(status, ["Content-Length": "1000"]), hop: hop, now: now)
            if case .goOn = verdict {} else { Issue.record("\(method) \(status) was refused") }
        }
    }

    @Test("nothing is delivered after the end")
    func deafness() throws {
        var state = state()
        let hop = try begin(&state)
        _ = state.end(.cancelled)
        holds(isIgnored(state.received(head: try head(), hop: hop, now: now)))
        holds(isIgnored(state.received(body: Data(count: 1), hop: hop, now: now)))
        holds(isIgnored(state.withheld(1, hop: hop, now: now)))
        holds(isIgnored(state.finished(trailers: nil, metrics: .init(), hop: hop, now: now)))
        holds(!state.isCurrent(hop))
        holds(state.sourceIsReady() == nil)
    }

    @Test("an exchange that has ended keeps nothing of what it went through")
    func lettingGo() throws {
        var state = state()
        holds(state.handOver(attempt).isWanted)
        holds(state.settle(.failed(.badResponse), now: now) != nil)
        holds(state.failed(CancellationError(), delay: 1, now: now)?.errors.count == 1)
        holds(state.beginAttempt(1, now: now) != nil)
        state.redirects = [.init(url: try #require(URL(string: url)), status: 302)]
        holds(state.end(.cancelled) != nil)
        #expect(state.retryState.errors.isEmpty && state.redirects.isEmpty)
        #expect(state.attempt == nil && state.steps == nil)
    }

    @Test("a source ready before its transfer is known is reported to it later, once")
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
