import Dispatch
import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("HTTPInterceptors around an attempt")
struct InterceptionTests {
    private let now = MonotonicTime.now

    /// A state whose HTTPInterceptors wait for the result of their request.
    private func waiting() throws -> FetchState {
        let delegate = FetchStateTests.StreamingDelegate()
        var state = FetchState(options: Shared(HTTP.Options()), delegate: delegate, now: now)
        _ = state.beginAttempt(0, now: now)
        let (attempt, interception) = (try needed(state.attempt), Interception(delegate))
        holds(state.handOver(attempt, now: now).isWanted)
        holds(state.begin(interception, of: attempt))
        holds(state.ask(interception, now: now))
        return state
    }

    @Test("give up a request while its start is reported: what they return counts, if the request ends later")
    func givenUp() throws {
        var state = try waiting()
        let (attempt, interception) = (try needed(state.attempt), try needed(state.intercepting?.interception))
        let request = try HTTP.Request(url: "http://a.test/")
        let hop = try needed(state.begin(request, fragment: nil, source: nil, of: attempt.number)?.number)
        holds(state.beginScheduling(hop: hop) != nil)
        holds(state.abandon(interception, now: now) == nil)
        guard case .settle(let late, let scope) = state.endScheduling() else { throw CancellationError() }
        let returned = Ending.whole(.init(status: .ok, url: request.url), Data(), method: .GET, fails: false)
        guard case .attempt? = state.end(interception, with: returned) else { throw CancellationError() }
        holds(state.settle(late, of: scope, now: now) == nil)
        holds(state.settle(returned, of: .attempt(attempt.number), now: now) != nil)
    }

    @Test("give up a request in the moment in which it fails: what they return counts", arguments: [false, true])
    func failed(isFinal: Bool) throws {
        for hasReturned in [false, true] {
            var state = try waiting()
            let (attempt, interception) = (try needed(state.attempt), try needed(state.intercepting?.interception))
            let request = try HTTP.Request(url: "http://a.test/")
            let hop = try needed(state.begin(request, fragment: nil, source: nil, of: attempt.number)?.number)
            let failure = isFinal ? HopFailure.bodyNotReplayable() : .badResponse(nil)
            let step = state.failed(failure, metrics: .init(), hop: hop, now: now)
            guard case .settle(let late, let scope) = step else { throw GaveUp() }
            holds(state.abandon(interception, now: now)?.waiting === interception)
            let returned = Ending.whole(.init(status: .ok, url: request.url), Data(), method: .GET, fails: false)
            if hasReturned {
                guard case .attempt? = state.end(interception, with: returned) else { throw GaveUp() }
            }
            holds(state.settle(late, of: scope, now: now) == nil)
            holds(state.end(late, of: scope) == nil)
            if !hasReturned {
                guard case .attempt? = state.end(interception, with: returned) else { throw GaveUp() }
            }
            holds(state.settle(returned, of: .attempt(attempt.number), now: now) != nil)
            holds(state.end(late, of: scope) == nil)
        }
    }

    @Test("cancel next before its request is sent: its wait ends, and nothing is sent")
    func cancelled() async throws {
        let (sent, queue) = (Lock(0), DispatchQueue(label: "engine"))
        let transport = InMemoryTransport(userAgent: nil) { _ in
            { request in
                sent.withLock { $0 += 1 }
                return (HTTP.Response(status: 200, url: request.url), Data("sent".utf8))
            }
        }
        let engine = HTTPEngine(transport: transport, queue: queue)
        let (hasAsked, hasReturned, hasEnded, body) = (Gate(), Gate(), Gate(), Lock<Data?>(nil))
        let impatient = AsyncInterceptor { request, next in
            let asking = Task {
                hasAsked.open()
                return try await next(request)
            }
            try await hasAsked.opened()
            try await Task.sleep(for: .milliseconds(50))
            asking.cancel()
            guard case .failure(let error as any HTTPError) = await asking.result, error.isCancelled else {
                throw CancellationError()
            }
            hasReturned.open()
            return HTTP.Reply(.init(status: .ok, url: request.url), body: Data("given up".utf8))
        }
        // The request of `next` waits in the queue.
        queue.suspend()
        do {
            defer { queue.resume() }
            let resource = HTTPResource<HTTP.Request, HTTP.Response>(
                baseRequestMaking: .request(try HTTP.Request(url: "http://a.test/")),
                interceptors: [impatient.adapted()]
            )
            _ = engine.fetch(resource) { result in
                body.withLock { $0 = try? result.get().value }
                hasEnded.open()
            }
            try await hasReturned.opened()
        }
        try await hasEnded.opened()
        #expect(body.withLock { $0 } == Data("given up".utf8))
        #expect(sent.withLock { $0 } == 0)
    }

    @Test("send nothing after a timeout has ended them")
    func timedOut() throws {
        var state = try waiting()
        let ending = Ending.failed(.timedOut(.attempt, during: .queued))
        holds(state.settle(ending, of: .attempt(state.attemptNumber), now: now)?.waiting != nil)
        let request = try HTTP.Request(url: "http://a.test/")
        holds(state.begin(request, fragment: nil, source: nil, of: state.attemptNumber) == nil)
    }

    @Test("that have a result abandon no hop")
    func answered() throws {
        var state = try waiting()
        let interception = try needed(state.intercepting?.interception)
        holds(state.settle(.failed(.badResponse(nil)), of: .request(of: state.attemptNumber), now: now)?.waiting != nil)
        holds(state.abandon(interception, now: now) == nil)
        guard case .attempt? = state.end(interception, with: .cancelled) else { throw CancellationError() }
    }

    /// Begins a hop whose start is being reported. Returns the interceptors around it.
    private func scheduling(_ state: inout FetchState) throws -> Interception {
        let interception = try needed(state.intercepting?.interception)
        let request = try HTTP.Request(url: "http://a.test/")
        let hop = try needed(state.begin(request, fragment: nil, source: nil, of: state.attemptNumber)).number
        holds(state.beginScheduling(hop: hop) != nil)
        return interception
    }

    @Test("that returned while the start was reported keep their result")
    func gaveUp() throws {
        for endsFirst in [false, true] {
            var state = try waiting()
            let interception = try scheduling(&state)
            holds(state.abandon(interception, now: now) == nil)
            if endsFirst {
                guard case .attempt? = state.end(interception, with: .thrown(GaveUp())) else { throw GaveUp() }
            }
            guard case .settle(let kept, let scope) = state.endScheduling() else { throw GaveUp() }
            if endsFirst {
                guard case .thrown = kept else { throw GaveUp() }
            } else {
                holds(state.settle(kept, of: scope, now: now)?.waiting === interception)
                guard case .attempt? = state.end(interception, with: .thrown(GaveUp())) else { throw GaveUp() }
            }
            holds(state.settle(.thrown(GaveUp()), now: now)?.waiting == nil)
        }
    }

    @Test("do not replace a final end that came while the start was reported")
    func endedMeanwhile() throws {
        var state = try waiting()
        let interception = try scheduling(&state)
        holds(state.end(.cancelled) == nil)
        guard case .attempt? = state.end(interception, with: .thrown(GaveUp())) else { throw GaveUp() }
        guard case .settle(.cancelled, .fetch) = state.endScheduling() else { throw GaveUp() }
    }

    private struct GaveUp: Error {}
}
