import Dispatch
import Foundation
import NetworkStackTesting

@testable import NetworkStack

/// Fetches on one engine, whose transport, interceptors, clock and callers are random.
///
/// One thread runs at a time: blocks of the engine wait until a step runs them, and time passes in steps only. If tasks of
/// Swift take part (a delayed retry, a refresh, the reader of a stream), a step waits until they are idle.
final class EngineHistory: History {
    static let subject = "HTTPEngine"
    private static let fetchCount = 8
    private static let longest = 500

    let seed: UInt64
    let engine: HTTPEngine<HTTPQueuedTransport<EngineHistoryTransport>>
    let world: EngineHistoryWorld
    let events = EventBarrier()
    let connections: Network.Configuration.Connections
    private var random: SeededRandom
    private let queue = DispatchQueue(label: "history")
    private let clock = VirtualClock()
    private let authenticator: TokenAuthenticator?
    private(set) var isShutDown = false
    /// The step after which the engine is shut down, whatever is under way.
    private let shutDownAt: Int

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        let world = EngineHistoryWorld(SeededRandom(seed: random.next()))
        self.world = world
        connections = .init(
            perHost: 1 + random.number(below: 3),
            total: random.chance(2) ? nil : 1 + random.number(below: 4)
        )
        var configuration = Network.Configuration()
        configuration.listeners = events.listeners
        configuration.retryClock = clock
        configuration.options.redirects.limit = EngineHistoryTransfer.redirectLimit
        configuration.options.limits.body = Int64(EngineHistoryTransfer.bodyLimit)
        configuration.options.timeouts = Self.timeouts
        shutDownAt = random.chance(2) ? 10 + random.number(below: 200) : Self.longest
        let origin = try HTTP.Request(url: "http://a.test/").checked().1
        authenticator =
            random.chance(2)
            ? nil : TokenAuthenticator(origins: [origin], clock: VirtualClock()) { _ in try await world.refresh() }
        engine = HTTPEngine(
            transport: HTTPQueuedTransport(EngineHistoryTransport(world: world), connections),
            configuration: configuration,
            queue: queue
        )
        queue.suspend()
    }

    deinit { queue.resume() }

    /// Far longer than a history takes.
    private static let timeouts = HTTP.Options.Timeouts(
        connect: .seconds(600),
        firstByte: .seconds(900),
        idle: .seconds(1200),
        attempt: .seconds(1800),
        total: .seconds(3600)
    )

    func fault(_ sentence: String) -> HistoryFault { HistoryFault(seed: seed, subject: Self.subject, sentence) }

    func must(_ sentence: @autoclosure () -> String, _ holds: Bool) throws(HistoryFault) {
        guard holds else { throw fault(sentence()) }
    }

    /// Returns the number of fetches.
    func run() throws -> Int {
        var steps = 0
        while steps < shutDownAt,
            world.fetches.count < Self.fetchCount || world.fetches.contains(where: { !isDone($0) })
        {
            steps += 1
            try step()
            try settle()
            try checkPlaces()
        }
        if shutDownAt == Self.longest { try concludeAll() }
        try shutDown()
        try checkEnd()
        return world.fetches.count
    }

    private func step() throws {
        switch random.number(below: 40) {
        case 0...3: if world.fetches.count < Self.fetchCount { try begin() }
        case 4...11: drain()
        case 12...15: world.makeCall()
        case 16, 17: world.answerRefresh()
        case 18, 19: try readStream()
        case 20 where random.chance(2): random.pick(world.fetches)?.cancel()
        case 21 where random.chance(6): random.pick(world.fetches)?.release()
        case 22: try passTime()
        case 23 where random.chance(40): try shutDown()
        case 24...26: try advanceClock()
        default: random.pick(world.transfers.filter { !$0.isOver })?.act(&random)
        }
    }

    // MARK: Steps

    private func begin() throws {
        let fetch = EngineHistoryFetch(number: world.fetches.count, streams: random.chance(3))
        world.add(fetch)
        if isShutDown { fetch.allow("shutDown") }
        let host = random.chance(2) ? "a.test" : "b.test"
        let method: HTTP.Method = random.chance(3) ? .POST : .GET
        let request = try HTTP.Request(
            method: method,
            url: "http://\(host)/start",
            headers: ["Fetch": "\(fetch.number)"]
        )
        var interceptors: HTTPResource<HTTP.Request, HTTP.Response>.Interceptors = []
        if let authenticator {
            interceptors.append(EngineHistoryAuthenticator(world: world, fetch: fetch, base: authenticator))
        }
        if random.chance(3) { interceptors.append(EngineHistoryHTTPInterceptor(world: world, fetch: fetch)) }
        if !random.chance(4) { interceptors.append(EngineHistoryInterceptor(world: world, fetch: fetch)) }
        let resource = HTTPResource<HTTP.Request, HTTP.Response>(
            baseRequestMaking: making(request, fetch),
            interceptors: interceptors
        )
        fetch.begun(
            fetch.streams
                ? engine.stream(resource) { fetch.complete(withStream: $0) }
                : engine.fetch(resource) { fetch.complete(with: $0) }
        )
    }

    private func making(_ request: HTTP.Request, _ fetch: EngineHistoryFetch) -> Network.BaseRequestMaking<HTTP.Request>
    {
        if random.chance(2) { return .request(request) }
        let fails = random.chance(8)
        if fails { fetch.allow("noRequest") }
        return .init { [world] handler in
            world.call { handler(fails ? .failure(CancellationError()) : .success(request)) }
        }
    }

    /// Runs the queued blocks. Blocks that they queue stay queued.
    private func drain() {
        let reached = DispatchSemaphore(value: 0)
        queue.async { [queue] in
            queue.suspend()
            reached.signal()
        }
        queue.resume()
        reached.wait()
    }

    /// The timer looks at the clocks of a fetch, later than now.
    private func passTime() throws {
        guard let fetch = random.pick(world.fetches), let loop = fetch.loop else { return }
        let seconds = random.pick([300, 700, 1000, 1300, 2000, 4000]) ?? 300
        if seconds > 600 { fetch.allow("timedOut") }
        _ = loop.deadlineReached(.now + .seconds(seconds))
    }

    private func advanceClock() throws {
        for _ in 0..<2 { drain() }
        try settle()
        let waiting = clock.sleeperCount
        if random.chance(2) { clock.advanceToNext() } else { clock.advance(by: .seconds(random.number(below: 50))) }
        // Those that were woken have begun another attempt when no more fetches are delayed than sleep.
        guard clock.sleeperCount < waiting else { return }
        try wait("A delayed attempt begins when its delay has passed.", until: { isClockSettled }, meanwhile: drain)
    }

    private func readStream() throws {
        let open = world.fetches.filter { fetch in
            let now = fetch.now
            return now.stream != nil && now.verdict == nil && (now.read.count < now.streamed.count || fetch.isEnded)
        }
        guard let fetch = random.pick(open) else { return }
        let hasRead = DispatchSemaphore(value: 0)
        Task {
            await fetch.readStream()
            hasRead.signal()
        }
        let result = hasRead.wait(timeout: .now() + 10)
        try must("A stream that has ended ends its reader's wait.", result == .success)
    }

    private func shutDown() throws {
        isShutDown = true
        for fetch in world.fetches { fetch.allow("shutDown") }
        engine.shutDown()
    }

    // MARK: Rest

    var sleeperCount: Int { clock.sleeperCount }

    /// The queue may still have to cancel the wait of a fetch that has ended.
    private var isClockSettled: Bool { clock.sleeperCount >= world.fetches.count { $0.isDelayed } }

    /// Waits until the tasks that a step began are idle.
    private func settle() throws {
        try wait("Every delayed attempt waits on the clock.", until: { isClockSettled })
        try wait("An attempt waits for a token if one is requested.", until: { world.isSettled })
        try wait(
            "An HTTPInterceptor waits for next only.",
            until: { world.fetches.allSatisfy(\.isInterceptionAtRest) }
        )
    }

    func wait(_ sentence: @autoclosure () -> String, until condition: () -> Bool, meanwhile body: () -> Void = {})
        throws
    {
        let deadline = MonotonicTime.now + .seconds(10)
        while !condition() {
            body()
            sched_yield()
            try must(sentence(), MonotonicTime.now < deadline)
        }
    }

    /// Whether a fetch and its stream, if any, have ended.
    private func isDone(_ fetch: EngineHistoryFetch) -> Bool {
        let now = fetch.now
        return !now.endings.isEmpty && fetch.isEnded && (now.stream == nil || now.verdict != nil)
    }

    /// Ends every wait of a fetch.
    private func concludeAll() throws {
        for _ in 0..<100 where world.fetches.contains(where: { !isDone($0) }) {
            drain()
            while world.hasCalls { world.makeCall() }
            world.answerRefresh()
            try settle()
            for transfer in world.transfers where !transfer.isOver { transfer.conclude() }
            try readStream()
            try settle()
            try advanceClock()
            try settle()
        }
        let late = world.fetches.filter { !isDone($0) }.map { "\($0.number): \($0.now)" }
        try must("A fetch that gets what it waits for ends: \(late)", late.isEmpty)
    }

    /// A fetch after the shutdown fails as shut down.
    func checkLateFetch() throws {
        let count = world.fetches.count
        try begin()
        try must("No fetch begins after a shutdown.", world.fetches[count].isEnded)
    }

    /// A fetch that has ended is not retained.
    func checkReleased() throws {
        let areReleased = { self.world.fetches.allSatisfy { $0.loop == nil } }
        let held = { "\(self.world.fetches.filter { $0.loop != nil }.map { "\($0.number): \($0.now)" })" }
        try wait("A fetch that has ended is released: \(held())", until: areReleased, meanwhile: drain)
    }

    /// Runs all queued blocks, and reads the rest of streams.
    func finishQueue() throws {
        for _ in 0..<4 { drain() }
        world.answerRefresh()
        for _ in 0..<4 { drain() }
        for _ in 0..<200 where world.fetches.contains(where: { $0.now.stream != nil && $0.now.verdict == nil }) {
            try readStream()
        }
        drain()
    }
}
