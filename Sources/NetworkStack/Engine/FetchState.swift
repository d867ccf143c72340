internal import FoundationEssentials

/// The life of one fetch as a plain value: every event returns what is to be done, and nothing is done here.
///
/// `making` -> `carrying` (once per hop) -> `ended`. With interceptors, an attempt goes on to `settling`, and from there to the
/// end, or by way of `delayed` to the next attempt's `making`. A stream goes from `carrying` to `opening` at its head, and to
/// `streaming` when the head is delivered. Events of a hop that is over, and all events after the end, are ignored.
struct FetchState: ~Copyable {
    /// Where the fetch is, with what it holds there.
    enum Stage {
        /// The request of the attempt is being made; the cancelable stops that.
        case making((any Cancelable)?)
        /// The scheduling of the attempt is being reported to the interceptors. What ends the attempt meanwhile waits for that.
        indirect case scheduling(Hop, then: (ending: Ending, of: Scope)?)
        case carrying(Hop)
        /// The hop was redirected, and the next one has not begun.
        case redirecting(Hop)
        /// The head of a stream has come, and is not delivered yet. It may have been reported to the interceptors.
        case opening(Hop, isReported: Bool)
        /// The stream has ended before its head was delivered.
        case openingLate(isReported: Bool)
        case streaming(Hop)
        /// The attempt is over, and the interceptors decide what it comes to. The cancelable stops a transformation.
        case settling((any Cancelable)?, isReported: Bool)
        /// The next attempt waits; the cancelable stops the wait.
        case delayed((any Cancelable)?)
        case ended

        /// The hop that is held, under way or redirected.
        var hop: Hop? {
            switch self {
            case .scheduling(let hop, _), .carrying(let hop), .redirecting(let hop), .opening(let hop, _),
                .streaming(let hop):
                hop
            case .making, .openingLate, .settling, .delayed, .ended: nil
            }
        }

        /// What makes the request, or transforms the body, or waits for the next attempt.
        var pending: (any Cancelable)? {
            switch self {
            case .making(let pending), .settling(let pending, _), .delayed(let pending): pending
            default: nil
            }
        }
    }

    /// What an ending is the end of.
    enum Scope {
        case fetch
        /// The attempt with this number.
        case attempt(Int)
        /// The request of the attempt with this number, which HTTPInterceptors around the attempt may no longer await.
        case request(of: Int)

        /// The number of the attempt.
        var attempt: Int? {
            switch self {
            case .fetch: nil
            case .attempt(let number), .request(of: let number): number
            }
        }
    }

    /// What a fetch does next, in the loop of its fetch.
    enum Step {
        /// Begin an attempt: make its request.
        case make
        /// Send the request that a redirect leads to, and release the source of the last one, and its transfer if that is not over.
        case follow(HTTP.Request, abandoning: (any HTTPTransfer)?, closing: (any HTTPBodySource)?, of: Int)
        /// Deliver a stream, whose head has come.
        case open(HTTP.Response)
        /// An attempt has ended: the one under way, if none is named.
        case settle(Ending, of: Scope = .fetch)
        /// The fetch has ended.
        case done(Ending, of: Scope = .fetch)
        /// Something is awaited, which enters the loop again.
        case wait
    }

    let options: Shared<HTTP.Options>
    /// Whether the fetch delivers a stream.
    let deliversStream: Bool
    /// Takes the events for listeners, if there are any.
    let trace: FetchTrace?
    /// Serves the fetch until its end: after that, its `Cancelable` holds nothing of the resource or the transport.
    var delegate: (any FetchDelegate)?
    var clocks: FetchClocks
    var stage = Stage.making(nil)
    var delivery: Delivery
    var attempt: Attempt?
    /// The HTTPInterceptors that run around the attempt.
    var intercepting: Intercepting?
    /// The last attempt whose request was handed over.
    var handedOver = 0
    var hopCount = 0
    var redirects: [HTTP.Response.Redirect] = []
    var ticket: Deadlines.Ticket?
    /// What was measured of the latest hop, if that is over.
    var metrics: HTTP.Metrics?
    /// The hops before the latest one.
    var earlier: [HTTP.EarlierHop] = []
    /// The latest request, which may have been refused.
    var latest: (attempt: Int, method: HTTP.Method, url: URL)?

    init(
        options: Shared<HTTP.Options>,
        delegate: (any FetchDelegate)?,
        trace: FetchTrace?,
        now: MonotonicTime
    ) {
        self.options = options
        self.trace = trace
        self.delegate = delegate
        deliversStream = delegate?.receiver != nil
        clocks = FetchClocks(options.value.timeouts, startedAt: now)
        // Callbacks of the options come before the completion, and on the queue.
        delivery = Delivery(completesInPlace: delegate?.resumesTask == true && !options.value.hasCallbacks)
    }

    var isEnded: Bool { if case .ended = stage { true } else { false } }

    /// Whether the interceptors know how the attempt ended.
    var isReported: Bool {
        switch stage {
        case .making, .scheduling, .carrying, .redirecting: false
        case .opening(_, let isReported), .openingLate(let isReported), .settling(_, let isReported): isReported
        case .streaming, .delayed, .ended: true
        }
    }

    // MARK: Hops

    /// Begins the next hop of an attempt. Returns `nil` if the attempt is over. The caller releases the last hop outside the
    /// lock.
    mutating func begin(
        _ request: HTTP.Request,
        fragment: String?,
        source: (any HTTPBodySource)?,
        of attempt: Int
    ) -> (number: Int, last: Hop?, delegate: (any FetchDelegate)?)? {
        guard attempt == attemptNumber else { return nil }
        switch stage {
        case .making, .redirecting: break
        default: return nil
        }
        // A timeout may have answered `next` before its request was sent.
        if let intercepting, !intercepting.isWaiting { return nil }
        let last = stage.hop
        hopCount += 1
        metrics = nil
        latest = (attempt, request.method, request.url)
        stage = .carrying(Hop(hopCount, request, fragment: fragment, source: source))
        clocks.queued()
        trace?.began(hop: hopCount, of: attempt, request, keepingBack: options.value.sensitiveHeaders)
        return (hopCount, last, delegate)
    }

    /// The scheduling of the attempt, whose first hop this is, is about to be reported to the interceptors. Returns the attempt, or
    /// `nil` if it is over.
    mutating func beginScheduling(hop number: Int) -> Attempt? {
        guard let hop = current(number) else { return nil }
        stage = .scheduling(hop, then: nil)
        return attempt
    }

    /// The scheduling has been reported. Returns what to do with an ending that came meanwhile.
    mutating func endScheduling() -> Step {
        guard case .scheduling(let hop, let end) = stage else { return .wait }
        stage = .carrying(hop)
        return end.map { .settle($0.ending, of: $0.of) } ?? .wait
    }

    /// Keeps what steers the hop. Returns what to do with it at once.
    mutating func hold(
        _ transfer: any HTTPTransfer,
        hop number: Int
    ) -> (cancels: Bool, resumesSending: Bool, resumesReceiving: Bool) {
        // The hop ended (a redirect, an end) before its transfer was known here: nothing else can cancel it.
        guard let hop = current(number) else { return (true, false, false) }
        hop.transfer = transfer
        defer { (hop.resumesSending, hop.resumesReceiving) = (false, false) }
        return (false, hop.resumesSending, hop.resumesReceiving)
    }

    /// The source of the hop under way has more to send. Returns the transfer to resume.
    mutating func sourceIsReady() -> (any HTTPTransfer)? {
        guard let hop = activeHop else { return nil }
        if hop.transfer == nil { hop.resumesSending = true }
        return hop.transfer
    }

    /// Has the clocks take note of an event, if its hop is under way. Returns the hop.
    mutating func note(hop number: Int, _ event: (inout FetchClocks) -> Void) -> Hop? {
        let hop = current(number)
        if hop != nil { event(&clocks) }
        return hop
    }

    /// The hop under way, which a redirect or an end makes `nil`.
    var activeHop: Hop? {
        if case .redirecting = stage { nil } else { stage.hop }
    }

    /// The hop with this number, if it is under way.
    func current(_ number: Int) -> Hop? {
        guard let hop = activeHop, hop.number == number else { return nil }
        return hop
    }

    func isCurrent(_ hop: Int) -> Bool { current(hop) != nil }

    /// Where the fetch is.
    func context(now: MonotonicTime) -> HTTP.FetchContext {
        let hop = stage.hop
        var metrics = metrics ?? hop.map { measure($0, now: now) } ?? HTTP.Metrics()
        complete(&metrics, of: hop, now: now)
        return HTTP.FetchContext(
            url: latest?.url.redactedDescription,
            metrics: metrics,
            attempt: attemptNumber
        )
    }

    /// What the engine itself knows of a hop that is cut short.
    func measure(_ hop: Hop, now: MonotonicTime) -> HTTP.Metrics {
        var metrics = HTTP.Metrics()
        clocks.marks.complete(&metrics, now: now)
        (metrics.bytesSent, metrics.bytesReceived) = (hop.sent, hop.received)
        metrics.remoteAddress = hop.connection?.connection.remoteAddress
        metrics.remotePort = hop.connection?.connection.remotePort
        return metrics
    }

    /// Adds to a transport's metrics of a hop what the engine knows besides.
    func complete(_ metrics: inout HTTP.Metrics, of hop: Hop?, now: MonotonicTime) {
        metrics.complete(redirects: redirects.count, after: now - clocks.startedAt)
        metrics.complete(hop?.connection)
        if metrics.ended == nil, hop != nil { clocks.marks.addEnd(to: &metrics, now: now) }
        if !earlier.isEmpty { metrics.hops = earlier }
    }

    /// The hop under way has a connection, and enters a phase on it.
    mutating func entered(
        _ phase: HTTP.Phase,
        on connection: HTTP.Connection,
        isReused: Bool,
        hop number: Int,
        now: MonotonicTime
    ) {
        guard let hop = note(hop: number, { $0.entered(phase, now: now, isSameHop: true) }) else { return }
        hop.connection = ConnectionUse(connection, isReused: isReused, now: now)
        trace?.acquired(connection, isReused: isReused)
        trace?.entered(phase)
    }
}
