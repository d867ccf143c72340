import Dispatch
import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("FetchLoop")
struct FetchLoopTests {
    private let now = MonotonicTime.now
    private let url = "http://host.test/"

    /// An attempt's number, and a state in which it carries a hop.
    private func carrying(_ state: inout FetchState) throws -> (hop: Int, attempt: Int) {
        let attempt = try needed(state.attempt)
        holds(state.handOver(attempt, now: now).isWanted)
        let hop = state.begin(try HTTP.Request(url: url), fragment: nil, source: nil, of: attempt.number)
        return (try needed(hop?.number), attempt.number)
    }

    private func state() -> FetchState {
        var state = FetchState(options: Shared(HTTP.Options()), now: now)
        _ = state.beginAttempt(0, now: now)
        return state
    }

    @Test("that ends after its stream was delivered ends the stream too")
    func delivered() async throws {
        let delegate = FetchStateTests.StreamingDelegate()
        let loop = FetchLoop(delegate, in: delegate.context)
        loop.run(.make)
        try loop.state.withLock { state in
            let hop = try carrying(&state).hop
            let head = HTTP.Response(status: 200, url: try HTTP.Request(url: url).url)
            guard case .open(let opened) = state.received(head: head, hop: hop, now: now) else {
                throw CancellationError()
            }
            _ = state.open(.opened(opened)).isOver
        }
        loop.run(.done(.failed(.shutDown)))
        let (receiver, failed) = (try needed(delegate.receiver), Gate())
        Task {
            do { _ = try await receiver.next() } catch { failed.open() }
        }
        try await failed.opened(within: .seconds(10))
    }

    @Test("reads the clock of HSTS outside its lock: the clock may cancel the fetch")
    func strictTransportClock() async throws {
        let fetching = Lock<(any Cancelable)?>(nil)
        let (begun, ended) = (DispatchSemaphore(value: 0), Gate())
        var configuration = Network.Configuration()
        configuration.strictTransport = HTTP.StrictTransportHosts {
            fetching.withLock { $0 }?.cancel()
            return Date()
        }
        let transport = InMemoryTransport(userAgent: nil) { _ in
            { request in
                begun.wait()
                return (
                    HTTP.Response(status: 302, headers: [.location: "http://other.test/"], url: request.url), Data()
                )
            }
        }
        let engine = HTTPEngine(transport: transport, configuration: configuration)
        let resource = HTTPResource<HTTP.Request, HTTP.Response>(
            baseRequestMaking: .request(try HTTP.Request(url: url))
        )
        let fetch = engine.fetch(resource) { result in
            if case .failure(.cancelled) = result { ended.open() }
        }
        fetching.withLock { $0 = fetch }
        begun.signal()
        try await ended.opened(within: .seconds(10))
    }

    @Test("that a shutdown ends makes no further attempt, whatever the votes")
    func shutDown() async throws {
        let engine = HTTPEngine(transport: InMemoryTransport(userAgent: nil) { _ in nil })
        let (failures, ended) = (Lock(0), Gate())
        let listener = AttemptListener { _, _ in failures.withLock { $0 += 1 } }
        let resource = HTTPResource<HTTP.Request, HTTP.Response>(
            baseRequestMaking: .init { _ in EmptyCancelable() },
            interceptors: [listener, HTTPRetryPolicy.backoff(.constant(delay: 600, until: .maxRetries(3)))]
        )
        _ = engine.fetch(resource) { result in
            if case .failure(.shutDown) = result { ended.open() }
        }
        engine.shutDown()
        try await ended.opened(within: .seconds(10))
        #expect(failures.withLock { $0 } == 1)
    }

    @Test("that has ended cancels a pending maker that is reported later")
    func lateMaking() throws {
        for isHandedOver in [false, true] {
            var state = state()
            let attempt = try needed(state.attempt)
            if isHandedOver { holds(state.handOver(attempt, now: now).isWanted) }
            holds(state.end(.failed(.badResponse(nil))) != nil)
            #expect((state.hold(making: EmptyCancelable(), of: attempt) != nil) == !isHandedOver)
        }
    }

    @Test("that is cancelled before its completion runs ends as cancelled, even after a success")
    func cancelledAtTheEnd() throws {
        let delegate = FetchStateTests.StreamingDelegate()
        let loop = FetchLoop(delegate, in: delegate.context)
        loop.run(.make)
        loop.returnsToCaller()
        holds(loop.state.withLock { $0.end(.resultStored, isIntercepted: true) } != nil)
        loop.cancel()
        loop.deliver(.onQueue, onQueue: true)
        let endings = delegate.endings.withLock { $0 }
        guard endings.count == 1, case .cancelled = endings[0] else {
            Issue.record("The fetch completed with \(endings)")
            return
        }
    }

    /// A state whose second attempt has begun. The first had the number 1.
    private func retried(streams: Bool = false) throws -> FetchState {
        let delegate = FetchStateTests.StreamingDelegate()
        var state = FetchState(options: Shared(HTTP.Options()), delegate: streams ? delegate : nil, now: now)
        _ = state.beginAttempt(0, now: now)
        let first = try carrying(&state)
        guard case .settle = state.failed(.badResponse(nil), metrics: .init(), hop: first.hop, now: now) else {
            throw CancellationError()
        }
        holds(state.settle(.failed(.badResponse(nil)), of: .attempt(first.attempt), now: now) != nil)
        holds(state.failed(CancellationError(), delay: nil, now: now) != nil)
        holds(state.beginAttempt(0, now: now) != nil)
        return state
    }

    @Test("ignores the ending of an earlier attempt, but not a cancel")
    func lateEndings() throws {
        var state = try retried()
        holds(state.end(.failed(.bodyNotReplayable()), of: .attempt(1)) == nil)
        holds(state.end(.cancelled) != nil)
    }

    @Test("streams in one attempt only")
    func streams() throws {
        var state = try retried(streams: true)
        let second = try carrying(&state)
        let head = HTTP.Response(status: 200, url: try HTTP.Request(url: url).url)
        guard case .open = state.received(head: head, hop: second.hop, now: now) else { throw CancellationError() }
        holds(!state.hasStreamHead(in: 1))
        holds(state.hasStreamHead(in: second.attempt) && state.hasStreamHead(in: nil))
    }

    @Test("whose stream fails while interceptors run reads only the total clock until they return")
    func failsWhileIntercepted() throws {
        let delegate = FetchStateTests.StreamingDelegate()
        var options = HTTP.Options()
        options.timeouts = .init(idle: .seconds(1), total: .seconds(10))
        var state = FetchState(options: Shared(options), delegate: delegate, now: now)
        _ = state.beginAttempt(0, now: now)
        let interception = Interception(delegate)
        holds(state.begin(interception, of: try needed(state.attempt)))
        holds(state.ask(interception, now: now))
        let (hop, head) = (try carrying(&state).hop, HTTP.Response(status: 200, url: try HTTP.Request(url: url).url))
        guard case .open = state.received(head: head, hop: hop, now: now) else { throw CancellationError() }
        holds(state.takeWaiting() === interception)
        guard case .expired(.idle, .receiving) = state.clocks.read(now + .seconds(1)) else { throw CancellationError() }
        holds(state.streamFailed(.failed(.timedOut(.idle, during: .receiving))) != nil)
        let clocks = state.clocks
        guard case .running(let next) = clocks.read(now + .seconds(1)) else { throw CancellationError() }
        #expect(next > now + .milliseconds(1008), "it is not asked again all the time")
        guard case .expired(.total, .settling) = clocks.read(now + .seconds(10)) else { throw CancellationError() }
    }

    @Test("releases a redirect's body, and no later one")
    func redirectedContent() throws {
        final class Source: HTTPBodySource {
            let length: Int64? = 0
            func next(upTo count: Int) -> HTTPBodyChunk { .end }
            func rewind() -> Bool { true }
            func close() {}
        }
        var state = state()
        let (attempt, source) = (try needed(state.attempt), Source())
        holds(state.handOver(attempt, now: now).isWanted)
        let request = try HTTP.Request(url: url)
        let hop = try needed(state.begin(request, fragment: nil, source: source, of: attempt.number)?.number)
        let head = HTTP.Response(status: 302, headers: [.location: "/next"], url: request.url)
        _ = state.received(head: head, hop: hop, now: now)
        let step = state.finished(trailers: nil, metrics: .init(), hop: hop, now: now)
        guard case .follow(_, _, let closed, _) = step else { throw CancellationError() }
        #expect(closed === source)
        holds(state.stage.hop?.source == nil)
    }

    @Test("has the URL of its last request in its context, and the metrics of its attempt")
    func context() throws {
        var state = state()
        let hop = try carrying(&state).hop
        var metrics = HTTP.Metrics()
        metrics.bytesReceived = 7
        guard case .settle(let ending, _) = state.failed(.badResponse(nil), metrics: metrics, hop: hop, now: now) else {
            throw CancellationError()
        }
        let first = state.context(now: now)
        #expect(first.url != nil && first.attempt == 1 && first.metrics.bytesReceived == 7)
        holds(state.settle(ending, now: now) != nil)
        holds(state.failed(CancellationError(), delay: nil, now: now) != nil)
        holds(state.beginAttempt(0, now: now) != nil)
        let second = state.context(now: now)
        #expect(second.url == first.url && second.attempt == 2 && second.metrics.bytesReceived == 0)
    }

    @Test("ignores an attempt that is over")
    func earlier() throws {
        var state = state()
        let first = try carrying(&state)
        guard case .settle = state.failed(.badResponse(nil), metrics: .init(), hop: first.hop, now: now) else {
            throw CancellationError()
        }
        // Before that is processed, a timeout fired, and the vote was to retry.
        let timeout = Ending.failed(.timedOut(.attempt, during: .waiting))
        holds(state.settle(timeout, of: .attempt(first.attempt), now: now) != nil)
        holds(state.failed(CancellationError(), delay: nil, now: now) != nil)
        holds(state.beginAttempt(0, now: now) != nil)
        holds(state.settle(.failed(.badResponse(nil)), of: .attempt(first.attempt), now: now) == nil)
        let request = try HTTP.Request(url: url)
        holds(state.begin(request, fragment: nil, source: nil, of: first.attempt) == nil, "a redirect of the first")
        let second = try carrying(&state)
        holds(state.settle(.failed(.badResponse(nil)), of: .attempt(second.attempt), now: now) != nil)
    }

    @Test("reports no start after the end of its attempt")
    func scheduling() throws {
        var ended = state()
        var hop = try carrying(&ended).hop
        _ = ended.end(.cancelled)
        holds(ended.beginScheduling(hop: hop) == nil)
        var settled = state()
        hop = try carrying(&settled).hop
        _ = settled.settle(.failed(.badResponse(nil)), now: now)
        holds(settled.beginScheduling(hop: hop) == nil)
        var redirected = state()
        hop = try carrying(&redirected).hop
        holds(redirected.beginScheduling(hop: hop + 1) == nil)
        holds(redirected.beginScheduling(hop: hop) != nil)
    }
}
