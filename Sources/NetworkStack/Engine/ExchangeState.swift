internal import FoundationEssentials

/// The life of one exchange as a plain value: every event answers what is to be done, and nothing is done here.
///
/// `making` -> `carrying` (once per hop) -> `ended`. If somebody intercepts, an attempt goes on to `settling`, and from
/// there to the end, or by way of `delayed` to the next attempt's `making`. A stream goes from `carrying` to `streaming` at
/// its head. Events of a hop that is over, and everything after the end, are answered with nothing.
struct ExchangeState: ~Copyable {
    enum Stage {
        case making
        case carrying
        case settling
        case delayed
        case streaming
        case ended
    }

    /// What a piece of the response asks for.
    enum Verdict {
        case goOn
        /// Carry another request, and let go of the last one's content, and of its transfer if that is not over.
        case follow(HTTP.Request, abandoning: (any HTTPTransfer)?, closing: (any HTTPBodySource)?)
        case open(HTTP.Response)
        case end(Ending)
        case ignore
    }

    private let shared: Shared<HTTP.Options>
    let streams: Bool
    /// Serves the exchange until its end: whoever holds an ended fetch holds nothing of the resource or the transport.
    var steps: (any ExchangeSteps)?
    var clocks: ExchangeClocks
    var stage = Stage.making
    private(set) var hop = 0
    var remains = Remains()
    var delivery = Delivery()

    var attempt: Attempt?
    var retryState = Retry.State()
    /// The last attempt whose request was handed over.
    var handedOver = 0
    /// Whether the interceptors have been told the attempt's end.
    var isTold = false
    /// Whether the head of a stream is delivered.
    var isOpened = false
    /// Whether a stream came to its end before that.
    var streamIsOver = false
    /// Whether the interceptors are being told that the attempt is scheduled; its end waits for that.
    var isScheduling = false
    var endingAfterScheduling: Ending?

    var request: HTTP.Request?
    var fragment: String?
    var redirects: [HTTP.Response.Redirect] = []
    var head: HTTP.Response?
    var next: HTTP.Request?
    var body = Data()
    /// What the transport measured of a hop that failed.
    var metrics: HTTP.Metrics?
    private var resumesSending = false
    var resumesReceiving = false

    /// A redirect's content beyond this is not worth waiting for to keep the connection.
    private static let drainLimit: Int64 = 64 * 1024
    /// What is collected of an unsuccessful response's content, for its error, when content is streamed.
    private static let errorLimit: Int64 = 1024 * 1024
    private var drained: Int64 = 0

    init(options: Shared<HTTP.Options>, steps: (any ExchangeSteps)? = nil, now: MonotonicTime) {
        shared = options
        self.steps = steps
        streams = steps?.receiver != nil
        clocks = ExchangeClocks(options.value.timeouts, startedAt: now)
    }

    private var limits: HTTP.Options.Limits { shared.value.limits }

    // MARK: Carrying

    /// Begins the next hop of an attempt. Answers its number, or `nil` if that or the exchange has ended.
    mutating func begin(
        _ request: HTTP.Request,
        fragment: String?,
        source: (any HTTPBodySource)?,
        of attempt: Int
    ) -> Int? {
        guard stage == .making || stage == .carrying, attempt == attemptNumber else { return nil }
        stage = .carrying
        hop += 1
        self.request = request
        self.fragment = fragment
        (head, next, drained, metrics) = (nil, nil, 0, nil)
        remains.transfer = nil
        remains.source = source
        (resumesSending, resumesReceiving) = (false, false)
        clocks.queued()
        return hop
    }

    /// The interceptors are about to be told that the attempt is scheduled, whose first hop this is. Answers the attempt, or
    /// `nil` if it has ended.
    mutating func beginScheduling(hop: Int) -> Attempt? {
        guard isCurrent(hop) else { return nil }
        isScheduling = true
        return attempt
    }

    /// The interceptors have been told. Answers the ending that came meanwhile.
    mutating func endScheduling() -> Ending? {
        isScheduling = false
        return endingAfterScheduling.take()
    }

    /// Keeps what steers the hop. Answers what to do with it at once.
    mutating func hold(
        _ transfer: any HTTPTransfer,
        hop: Int
    ) -> (cancels: Bool, resumesSending: Bool, resumesReceiving: Bool) {
        // The hop was left (a redirect, an end) before its transfer was known here: nobody else can give it up.
        guard isCurrent(hop) else { return (true, false, false) }
        remains.transfer = transfer
        defer { (resumesSending, resumesReceiving) = (false, false) }
        return (false, resumesSending, resumesReceiving)
    }

    /// The source of the hop under way can go on. Answers whom to tell.
    mutating func sourceIsReady() -> (any HTTPTransfer)? {
        guard stage == .carrying || stage == .streaming else { return nil }
        if remains.transfer == nil { resumesSending = true }
        return remains.transfer
    }

    mutating func entered(_ phase: HTTP.Phase, hop: Int, now: MonotonicTime) {
        if isCurrent(hop) { clocks.entered(phase, now: now, isSameHop: true) }
    }

    mutating func progressed(hop: Int, now: MonotonicTime) {
        if isCurrent(hop) { clocks.progressed(now: now) }
    }

    mutating func sent(hop: Int, now: MonotonicTime) {
        if isCurrent(hop) { clocks.sent(now: now) }
    }

    /// How much content the request under way has, if that is known.
    var contentLength: Int64? { remains.source.map(\.length) ?? request?.body.length }

    mutating func received(
        head response: consuming HTTP.Response,
        secured: Result<URL?, HTTP.InvalidValue> = .success(nil),
        hop: Int,
        now: MonotonicTime
    ) -> Verdict {
        guard isCurrent(hop) else { return .ignore }
        clocks.entered(.receiving, now: now)
        head = response
        do {
            next = response.status.statusClass == .redirection ? try redirect(response, secured) : nil
        } catch {
            return .end(.failed(error))
        }
        // What follows is another protocol's (RFC 9110 section 15.2.2), and nobody asked for it.
        if response.status == .switchingProtocols { return whole(now: now) }
        if streams, next == nil, response.status.statusClass == .success {
            stage = .streaming
            clocks.opened()
            return takeResponse(trailers: nil, metrics: .init(), now: now).map { .open($0) } ?? .ignore
        }
        if let length = response.headers.announcedLength, request?.method != .HEAD {
            if let next {
                return length > Self.drainLimit ? follow(next, status: response.status, abandons: true) : .goOn
            }
            if length > limits.body, response.status != .notModified, !streams {
                return .end(.failed(.bodyTooLarge(limit: limits.body)))
            }
        }
        return .goOn
    }

    /// Where a redirect leads, if it is to be followed.
    private func redirect(
        _ response: HTTP.Response,
        _ secured: Result<URL?, HTTP.InvalidValue>
    ) throws(HopFailure) -> HTTP.Request? {
        guard let request, let origin = try? HTTP.Origin(of: request.url) else { return nil }
        return try Redirect.next(
            after: response,
            to: request,
            from: origin,
            fragment: fragment,
            following: redirects,
            policy: shared.value.redirects,
            secured: secured
        )
    }

    mutating func received(body chunk: Data, hop: Int, now: MonotonicTime) -> Verdict {
        guard isCurrent(hop) else { return .ignore }
        clocks.progressed(now: now)
        if next != nil { return drain(drained + Int64(chunk.count)) }
        let limit = streams ? Self.errorLimit : limits.body
        guard Int64(body.count) + Int64(chunk.count) <= limit else {
            return streams ? whole(now: now) : .end(.failed(.bodyTooLarge(limit: limit)))
        }
        if body.isEmpty { body = chunk } else { body.append(chunk) }
        return .goOn
    }

    mutating func withheld(_ count: Int64, hop: Int, now: MonotonicTime) -> Verdict {
        guard isCurrent(hop) else { return .ignore }
        clocks.progressed(now: now)
        if next != nil { return drain(count) }
        return count <= limits.body ? .goOn : .end(.failed(.bodyTooLarge(limit: limits.body)))
    }

    mutating func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics, hop: Int, now: MonotonicTime) -> Verdict {
        guard isCurrent(hop), stage == .carrying else { return .ignore }
        remains.transfer = nil
        guard let status = head?.status else { return .end(.failed(.badResponse)) }
        if let next { return follow(next, status: status, abandons: false) }
        return whole(trailers: trailers, metrics: metrics, now: now)
    }

    func isCurrent(_ hop: Int) -> Bool { (stage == .carrying || stage == .streaming) && hop == self.hop }

    private mutating func drain(_ count: Int64) -> Verdict {
        drained = count
        guard let next, let head, drained > Self.drainLimit else { return .goOn }
        return follow(next, status: head.status, abandons: true)
    }

    private mutating func follow(_ next: HTTP.Request, status: HTTP.StatusCode, abandons: Bool) -> Verdict {
        guard let request else { return .ignore }
        redirects.append(.init(url: request.url, status: status))
        hop += 1  // What the old hop still says is not heard any more.
        let transfer = remains.transfer.take()
        return .follow(next, abandoning: abandons ? transfer : nil, closing: remains.source.take())
    }
}
