internal import Dispatch
internal import FoundationEssentials

/// What the exchanges of an engine share, whatever the types of its stack.
@usableFromInline
final class ExchangeContext: Sendable {
    /// How fetches are carried out, unless a resource says otherwise.
    @usableFromInline let options: Shared<HTTP.Options>
    /// Resumes tasks and runs callbacks together, if the transport has a thread that ends many fetches in one turn.
    @usableFromInline let batch: ResumeBatch?
    /// Header fields of every request, if there are any.
    private let sessionHeaders: HTTP.Headers?
    /// What is remembered from one hop to the next, and from one fetch to the next.
    let memory: StateManagement
    /// None where state has a say in each hop.
    let recentHop: RecentHop?
    /// Decides whom a request may go to; nobody, if everybody is trusted in the ordinary way.
    private let judge: ServerTrustJudge?
    /// Hears of servers that are trusted although they do not pass.
    let reporter: ServerTrustJudge.Reporter?
    let wheel = TimerWheel()
    /// How long after a fetch has begun, in nanoseconds, to look at its clocks: worked out once, as durations are slow to add.
    private let firstLook: UInt64
    let queue: DispatchQueue
    let retryTimer: RetryTimer

    init(
        configuration: Network.Configuration,
        obstacleToPinning: String?,
        queue: DispatchQueue,
        retryQueue: DispatchQueue,
        batch: ResumeBatch? = nil
    ) {
        self.batch = batch
        options = Shared(configuration.options)
        let start = MonotonicTime(nanoseconds: 0)
        firstLook = ExchangeClocks(configuration.options.timeouts, startedAt: start).firstLook.nanoseconds
        sessionHeaders = configuration.headers.isEmpty ? nil : configuration.headers
        memory = StateManagement(
            cookies: configuration.cookies,
            strictTransport: configuration.strictTransport,
            provesServers: configuration.tls.verification == .full
        )
        recentHop = memory.isOn ? nil : RecentHop()
        self.queue = queue
        retryTimer = configuration.retryClock.map { .clock($0) } ?? .queue(retryQueue)
        let reporter = configuration.serverTrustReporter.map { hear in
            { @Sendable (report: ServerTrustReport) in queue.async { hear(report) } }
        }
        self.reporter = reporter
        judge = configuration.serverTrust.map { serverTrust in
            ServerTrustJudge(
                serverTrust,
                obstacle: obstacleToPinning,
                now: configuration.wallClock,
                report: reporter ?? { _ in }
            )
        }
    }

    /// Ends every exchange under way, and all to come.
    func shutDown() {
        for case let exchange as Exchange in wheel.close() { exchange.run(.settle(.failed(.shutDown))) }
    }

    /// Takes no more fetches, and waits for the end of those under way, but not for longer than this.
    func finish(within grace: Duration) async {
        let departure = wheel.seal()
        DispatchQueue.global().asyncAfter(deadline: .now() + grace.dispatchInterval) { departure.reach() }
        await withTaskCancellationHandler {
            await departure.wait()
        } onCancel: {
            departure.reach()
        }
    }

    /// How a server must prove itself before anything is sent to it, given what was said of it the last time, if anything was.
    ///
    /// - Throws: What speaks against sending anything at all.
    func trust(for origin: HTTP.Origin, after last: ServerTrust = .ordinary) throws(ServerTrustError) -> ServerTrust {
        try judge?.trust(for: origin, after: last) ?? .ordinary
    }

    /// How long after a fetch with these options has begun, in nanoseconds, to look at its clocks, if that is known.
    func firstLook(with options: Shared<HTTP.Options>) -> UInt64? { options === self.options ? firstLook : nil }

    /// Adds the stack's header fields to a made request, unless the resource does without.
    func addingSessionHeaders(to request: HTTP.Request, options: Shared<HTTP.Options>) -> HTTP.Request {
        guard let sessionHeaders, options.value.usesSessionHeaders else { return request }
        return request.with(sessionHeaders: sessionHeaders)
    }

    /// Begins a fetch.
    ///
    /// - Returns: Cancels it.
    func begin(_ delegate: any ExchangeDelegate) -> any Cancelable {
        let exchange = Exchange(delegate, in: self)
        delegate.receiver?.attach(exchange, cancelled: delegate.streamError(of: .cancelled))
        exchange.run(.make)
        exchange.returnsToCaller()
        return exchange
    }

    /// Runs work on a queue; from the batch's thread, together with what else ends there in the same turn.
    func run(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        if let batch { batch.run(on: queue, work) } else { queue.async(execute: work) }
    }
}
