internal import FoundationEssentials

/// The life of one exchange as a plain value: every event answers what is to be done, and nothing is done here.
///
/// `making` -> `carrying` (once per hop) -> `ended`. Events of a hop that is over, and everything after the end, are
/// answered with nothing.
struct ExchangeState {
    enum Stage {
        case making
        case carrying
        case ended
    }

    /// What a piece of the response asks for.
    enum Verdict {
        case goOn
        case follow(HTTP.Request, abandoning: (any HTTPTransfer)?)
        case end(Ending)
        case ignore
    }

    /// What has to be let go of when the exchange ends.
    struct Remains {
        var making: (any Cancelable)?
        var transfer: (any HTTPTransfer)?
        var source: (any HTTPBodySource)?
        var ticket: TimerWheel.Ticket?
    }

    let options: HTTP.Options
    private(set) var clocks: ExchangeClocks
    private(set) var stage = Stage.making
    private(set) var hop = 0
    private var remains = Remains()
    private var wasMade = false

    private var request: HTTP.Request?
    private var origin: HTTP.Origin?
    private var fragment: String?
    private var redirects: [HTTP.Response.Redirect] = []
    private var head: HTTP.Response?
    private var next: HTTP.Request?
    private var body = Data()
    private var resumesSending = false

    /// A redirect's content beyond this is not worth waiting for to keep the connection.
    private static let drainLimit: Int64 = 64 * 1024
    private var drained: Int64 = 0

    init(options: HTTP.Options, now: MonotonicTime) {
        self.options = options
        clocks = ExchangeClocks(options.timeouts, startedAt: now)
    }

    // MARK: Making

    /// Keeps what cancels the making. Answers it back if it is to be cancelled at once.
    mutating func hold(making: any Cancelable) -> (any Cancelable)? {
        switch stage {
        case .making: remains.making = making
        case .carrying: break
        case .ended: return making
        }
        return nil
    }

    mutating func hold(ticket: TimerWheel.Ticket) -> TimerWheel.Ticket? {
        if stage == .ended { return ticket }
        remains.ticket = ticket
        return nil
    }

    /// Whether this is the first time the request is handed over, and still wanted.
    mutating func wasHandedOver() -> Bool {
        guard stage == .making, !wasMade else { return false }
        wasMade = true
        remains.making = nil
        return true
    }

    // MARK: Carrying

    /// Begins the next hop. Answers its number, or `nil` if the exchange has ended.
    mutating func begin(
        _ request: HTTP.Request,
        origin: HTTP.Origin,
        fragment: String?,
        source: (any HTTPBodySource)?,
        now: MonotonicTime
    ) -> Int? {
        guard stage != .ended else { return nil }
        stage = .carrying
        hop += 1
        self.request = request
        self.origin = origin
        self.fragment = fragment
        (head, next, drained) = (nil, nil, 0)
        remains.transfer = nil
        remains.source = source
        resumesSending = false
        clocks.entered(.queued, now: now)
        return hop
    }

    /// Keeps what steers the hop. Answers what to do with it at once.
    mutating func hold(_ transfer: any HTTPTransfer, hop: Int) -> (cancels: Bool, resumesSending: Bool) {
        guard stage != .ended else { return (true, false) }
        // The hop was left (a redirect) before its transfer was known here: nobody else can give it up.
        guard hop == self.hop else { return (true, false) }
        remains.transfer = transfer
        defer { resumesSending = false }
        return (false, resumesSending)
    }

    /// The source of the hop under way can go on. Answers whom to tell.
    mutating func sourceIsReady() -> (any HTTPTransfer)? {
        guard stage == .carrying else { return nil }
        if remains.transfer == nil { resumesSending = true }
        return remains.transfer
    }

    /// Takes the source of a hop that is over.
    mutating func takeSource() -> (any HTTPBodySource)? {
        defer { remains.source = nil }
        return remains.source
    }

    mutating func entered(_ phase: HTTP.Phase, hop: Int, now: MonotonicTime) {
        if isCurrent(hop) { clocks.entered(phase, now: now) }
    }

    mutating func progressed(hop: Int, now: MonotonicTime) {
        if isCurrent(hop) { clocks.progressed(now: now) }
    }

    mutating func received(head response: HTTP.Response, hop: Int, now: MonotonicTime) -> Verdict {
        guard isCurrent(hop), let request, let origin else { return .ignore }
        clocks.entered(.receiving, now: now)
        head = response
        do {
            next = try Redirect.next(
                after: response,
                to: request,
                from: origin,
                fragment: fragment,
                following: redirects,
                policy: options.redirects
            )
        } catch {
            return .end(.refused(error))
        }
        if let length = response.headers[.contentLength].flatMap({ Int64($0) }), request.method != .HEAD {
            if let next {
                return length > Self.drainLimit ? follow(next, status: response.status, abandons: true) : .goOn
            }
            if length > options.limits.body, response.status != .notModified {
                return .end(.refused(.bodyTooLarge(limit: options.limits.body)))
            }
        }
        return .goOn
    }

    mutating func received(body chunk: Data, hop: Int, now: MonotonicTime) -> Verdict {
        guard isCurrent(hop) else { return .ignore }
        clocks.progressed(now: now)
        if next != nil { return drain(drained + Int64(chunk.count)) }
        guard Int64(body.count) + Int64(chunk.count) <= options.limits.body else {
            return .end(.refused(.bodyTooLarge(limit: options.limits.body)))
        }
        if body.isEmpty { body = chunk } else { body.append(chunk) }
        return .goOn
    }

    mutating func withheld(_ count: Int64, hop: Int, now: MonotonicTime) -> Verdict {
        guard isCurrent(hop) else { return .ignore }
        clocks.progressed(now: now)
        if next != nil { return drain(count) }
        return count <= options.limits.body ? .goOn : .end(.refused(.bodyTooLarge(limit: options.limits.body)))
    }

    mutating func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics, hop: Int, now: MonotonicTime) -> Verdict {
        guard isCurrent(hop), let request else { return .ignore }
        guard var response = head else { return .end(.badResponse) }
        if let next { return follow(next, status: response.status, abandons: false) }
        response.trailers = trailers
        response.redirects = redirects
        response.metrics = metrics
        response.metrics.hopCount = redirects.count + 1
        // The redirects' targets inherit it (RFC 9110 section 10.2.2); the transport never saw it.
        if let fragment { response.url = response.url.with(fragment: fragment) }
        response.metrics.total = now - clocks.startedAt
        defer { body = Data() }
        return .end(.whole(response, body, method: request.method))
    }

    func isCurrent(_ hop: Int) -> Bool { stage == .carrying && hop == self.hop }

    private mutating func drain(_ count: Int64) -> Verdict {
        drained = count
        guard let next, let head, drained > Self.drainLimit else { return .goOn }
        return follow(next, status: head.status, abandons: true)
    }

    private mutating func follow(_ next: HTTP.Request, status: HTTP.StatusCode, abandons: Bool) -> Verdict {
        guard let request else { return .ignore }
        redirects.append(.init(url: request.url, status: status))
        hop += 1  // What the old hop still says is not heard any more.
        defer { remains.transfer = nil }
        return .follow(next, abandoning: abandons ? remains.transfer : nil)
    }

    // MARK: Ending

    /// Ends the exchange. Answers what to let go of, or `nil` if it had ended.
    mutating func end() -> Remains? {
        guard stage != .ended else { return nil }
        stage = .ended
        defer {
            remains = Remains()
            (request, head, next) = (nil, nil, nil)
            body = Data()
        }
        return remains
    }
}
