internal import Dispatch
internal import FoundationEssentials
internal import Synchronization

/// The state that the fetches of an engine share, independent of the types of its stack.
@usableFromInline
final class EngineContext: Sendable {
    /// How fetches are carried out, unless a resource changes that.
    @usableFromInline let options: Shared<HTTP.Options>
    /// Resumes tasks and runs callbacks together, if the transport has a thread that ends many fetches in one turn.
    @usableFromInline let batch: ResumeBatch?
    /// Header fields of every request, if there are any.
    private let sessionHeaders: HTTP.Headers?
    /// Cookies, and hosts that require https.
    let cookiesAndHSTS: CookiesAndHSTS
    /// `nil` with cookies or HSTS, which may change each hop.
    let recentHop: RecentHop?
    /// Decides which servers a request may go to; `nil` without pinning.
    private let judge: ServerTrustJudge?
    /// Called for servers that do not pass, where that is only reported.
    let reporter: ServerTrustJudge.Reporter?
    /// Passes events to the listeners, if there are any.
    let events: EventReporter?
    let deadlines: Deadlines
    let counts: EngineCounts
    /// How long after a fetch has begun, in nanoseconds, to check its timeouts: calculated once, as durations are slow to add.
    private let firstDeadlineOffset: UInt64
    let queue: DispatchQueue
    let retryTimer: RetryTimer
    /// Whether the transport stops delivering a body while its reader is behind.
    let holdsBack: Bool

    init(
        configuration: Network.Configuration,
        obstacleToPinning: String?,
        holdsBack: Bool = true,
        queue: DispatchQueue,
        retryQueue: DispatchQueue,
        batch: ResumeBatch? = nil,
        events: EventReporter? = nil,
        deadlines: Deadlines = Deadlines(),
        counts: EngineCounts = EngineCounts()
    ) {
        self.deadlines = deadlines
        self.holdsBack = holdsBack
        self.counts = counts
        self.batch = batch
        self.events = events
        options = Shared(configuration.options.keepingBack(configuration.sensitiveHeaders))
        let start = MonotonicTime(nanoseconds: 0)
        let clocks = FetchClocks(configuration.options.timeouts, startedAt: start)
        firstDeadlineOffset = clocks.firstDeadline.nanoseconds
        sessionHeaders = configuration.headers.isEmpty ? nil : configuration.headers
        cookiesAndHSTS = CookiesAndHSTS(
            cookies: configuration.cookies,
            strictTransport: configuration.strictTransport,
            provesServers: configuration.tls.verification == .full
        )
        recentHop = cookiesAndHSTS.isOn ? nil : RecentHop()
        self.queue = queue
        retryTimer = configuration.retryClock.map { .clock($0) } ?? .queue(retryQueue)
        let reporter = configuration.serverTrustReporter.map { call in
            { @Sendable (report: ServerTrustReport) in queue.async { call(report) } }
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

    /// Ends every fetch under way, and all later ones.
    func shutDown() {
        for case let loop as FetchLoop in deadlines.close() { loop.run(.settle(.failed(.shutDown))) }
    }

    /// Takes no more fetches, and waits for the end of those under way, but not for longer than this.
    func finish(within grace: Duration) async {
        let departure = deadlines.seal()
        DispatchQueue.global().asyncAfter(deadline: .now() + grace.dispatchInterval) { departure.fire() }
        await withTaskCancellationHandler {
            await departure.wait()
        } onCancel: {
            departure.fire()
        }
    }

    /// How a server must prove itself before anything is sent to it, given the last decision, if there was one.
    ///
    /// - Throws: The reason to send nothing at all.
    func trust(for origin: HTTP.Origin, after last: ServerTrust = .ordinary) throws(ServerTrustError) -> ServerTrust {
        try judge?.trust(for: origin, after: last) ?? .ordinary
    }

    @usableFromInline
    func makeTrace() -> FetchTrace? { events.map { FetchTrace($0) } }

    /// How long after a fetch with these options has begun, in nanoseconds, to check its timeouts, if that is known.
    func firstDeadlineOffset(with options: Shared<HTTP.Options>) -> UInt64? {
        options === self.options ? firstDeadlineOffset : nil
    }

    /// Adds the stack's header fields to a made request, unless the resource does without.
    func addingSessionHeaders(
        to request: HTTP.Request,
        options: Shared<HTTP.Options>,
        hasMoved: Bool
    ) -> HTTP.Request {
        guard let sessionHeaders, options.value.usesSessionHeaders else { return request }
        let sensitive = options.value.sensitiveHeaders
        return request.with(sessionHeaders: sessionHeaders, sensitive: sensitive, hasMoved: hasMoved)
    }

    /// Begins a fetch.
    ///
    /// - Returns: Cancels it.
    func begin(_ delegate: any FetchDelegate) -> any Cancelable {
        let loop = FetchLoop(delegate, in: self)
        delegate.receiver?.attach(loop, cancelled: delegate.streamError(of: .cancelled))
        loop.run(.make)
        loop.returnsToCaller()
        return loop.options === options ? loop : FetchCancelable(loop)
    }

    /// Runs work on a queue; from the batch's thread, together with what else ends there in the same turn.
    func run(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        if let batch { batch.run(on: queue, work) } else { queue.async(execute: work) }
    }
}

/// What the engines of a stack count together: attempts, and the bytes of bodies that requests have transferred.
final class EngineCounts: Sendable {
    private let lastIdentifier = Atomic<Int>(0)
    private let sent = Atomic<Int64>(0)
    private let received = Atomic<Int64>(0)

    /// An identifier for a new attempt.
    func nextIdentifier() -> Int { lastIdentifier.wrappingAdd(1, ordering: .relaxed).newValue }

    /// A request has ended. The sums wrap around, because any transport may report any figure.
    func add(_ metrics: HTTP.Metrics) {
        if metrics.bytesSent > 0 { sent.wrappingAdd(metrics.bytesSent, ordering: .relaxed) }
        if metrics.bytesReceived > 0 { received.wrappingAdd(metrics.bytesReceived, ordering: .relaxed) }
    }

    /// Adds the sums to a stack's gauges.
    func report(to gauges: inout Network.Gauges) {
        gauges.bytesSent = sent.load(ordering: .relaxed)
        gauges.bytesReceived = received.load(ordering: .relaxed)
    }
}
