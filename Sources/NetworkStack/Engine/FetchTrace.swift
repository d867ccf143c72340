/// The events of one fetch, if the stack has listeners. Each start is followed by its end, and the end of the fetch comes once.
///
/// It calls no listener itself. Its own lock keeps the events in order, because some are noted outside the lock of the fetch.
@usableFromInline
final class FetchTrace: Sendable {
    private let events: Lock<Events>
    /// Whether a listener observes more than the end.
    private let observesSteps: Bool
    private static let lastID = Lock(0)

    init(_ reporter: EventReporter) {
        let id = Self.lastID.withLock { last in
            last += 1
            return last
        }
        observesSteps = reporter.observesSteps
        events = Lock(Events(reporter: reporter, place: Shared(FetchEvent.Place(fetch: id))))
        step { $0.add { $0.fetchStarted($1) } }
    }

    private func step(_ body: (inout Events) -> Void) {
        if observesSteps { events.withLock(body) }
    }

    /// Another attempt begins. Its request is to be made.
    func began(attempt: Int) { events.withLock { events in Shared.change(&events.place) { $0.attempt = attempt } } }

    /// A request is about to be carried.
    func began(hop: Int, of attempt: Int, _ request: HTTP.Request, keepingBack names: Set<HTTP.HeaderName>) {
        events.withLock { $0.began(hop: hop, of: attempt, request, keepingBack: names) }
    }

    /// The hop has entered a phase.
    func entered(_ phase: HTTP.Phase) { step { $0.entered(phase) } }

    /// The hop is carried on a connection.
    func acquired(_ connection: HTTP.Connection, isReused: Bool) {
        step { $0.acquired(connection, isReused: isReused) }
    }

    /// Bytes of the request's body have been sent.
    func sent(_ total: Int64) { step { $0.sentBytes = total } }

    func received(informational response: HTTP.Response) {
        step { events in
            events.beginResponse()
            events.add { $0.informationalReceived($1, response: response) }
        }
    }

    func received(head response: HTTP.Response) {
        step { events in
            events.beginResponse()
            events.add { $0.headReceived($1, response: response) }
        }
    }

    /// The head of a stream has come.
    func opened(_ response: HTTP.Response) { events.withLock { $0.stream = response } }

    /// An interceptor provides the body of the stream. How the server's stream ends no longer counts.
    func replaced(_ response: HTTP.Response) {
        events.withLock { ($0.stream, $0.streamFailure, $0.isReplaced) = (response, nil, true) }
    }

    /// The response is complete.
    func finished(_ metrics: HTTP.Metrics) {
        events.withLock { events in
            events.stream?.metrics = metrics
            events.beginResponse()
            events.add { $0.bodyReceived($1, byteCount: metrics.bytesReceived) }
            events.endHop()
        }
    }

    /// The hop is over, in whatever way.
    func hopEnded() { step { $0.endHop() } }

    func redirected(_ response: HTTP.Response) {
        step { events in
            events.endHop()
            events.add { $0.redirected($1, response: response) }
        }
    }

    func retries(after delay: Retry.Delay?, _ error: any Error) {
        step { events in
            events.add { $0.retryScheduled($1, after: delay.map { Retry.duration($0) }, error: error) }
        }
    }

    // MARK: The end of the fetch, after which nothing counts

    /// The fetch ends, perhaps without a response.
    func ends(with metrics: HTTP.Metrics) { events.withLock { $0.metrics = metrics } }

    /// The completion is called with a response, of which nothing is to come.
    @usableFromInline
    func succeeded(_ response: HTTP.Response) { events.withLock { $0.end(with: response) } }

    /// The completion is called with a failure.
    func failed(_ error: any Error) { events.withLock { $0.end(with: error) } }

    /// A stream has failed after its head.
    func streamFailed(_ error: any Error) {
        events.withLock { events in
            if events.streamFailure == nil, !events.isReplaced { events.streamFailure = error }
        }
    }

    /// A stream has ended, well or with what it failed with.
    func streamEnded() {
        events.withLock { events in
            if let error = events.streamFailure {
                events.end(with: error)
            } else if let response = events.stream.take() {
                events.end(with: response)
            }
        }
    }
}

/// Where a fetch is, as its events show it.
private struct Events {
    let reporter: EventReporter
    var place: Shared<FetchEvent.Place>
    /// The phase of the hop under way.
    var phase: HTTP.Phase?
    var connection: HTTP.Connection?
    var sentBytes: Int64 = 0
    var hasBegunResponse = false
    /// What was measured until the end.
    var metrics = HTTP.Metrics()
    /// The head of a stream, and why its body failed.
    var stream: HTTP.Response?
    var streamFailure: (any Error)?
    /// Whether an interceptor provides its body.
    var isReplaced = false
    var isOver = false

    func add(_ report: @escaping @Sendable (any EventListener, FetchEvent) -> Void) {
        if !isOver && reporter.observesSteps { reporter.add(at: place, report) }
    }

    mutating func began(hop: Int, of attempt: Int, _ request: HTTP.Request, keepingBack names: Set<HTTP.HeaderName>) {
        endHop()
        let isFirst = !place.value.hasRequestOfAttempt
        Shared.change(&place) { place in
            (place.attempt, place.requestAttempt, place.hop) = (attempt, attempt, hop)
            (place.request, place.sensitiveHeaders) = (request.withoutBody, names)
        }
        if isFirst { add { $0.attemptStarted($1) } }
        (phase, sentBytes, hasBegunResponse) = (.queued, 0, false)
        add { $0.queued($1) }
    }

    mutating func entered(_ next: HTTP.Phase) {
        // A hop that is queued again has only read its body ahead.
        guard phase != nil, next != .queued, next != phase || next == .connecting else { return }
        endPhase()
        phase = next
        switch next {
        case .resolving: add { $0.nameLookupStarted($1) }
        case .connecting: add { $0.connectStarted($1) }
        case .securing: add { $0.tlsStarted($1) }
        case .waiting: add { [sentBytes] in $0.requestSent($1, byteCount: sentBytes) }
        default: break
        }
    }

    mutating func acquired(_ connection: HTTP.Connection, isReused: Bool) {
        endPhase()
        release()
        (phase, self.connection) = (.sending, connection)
        add { $0.connectionAcquired($1, connection: connection, isReused: isReused) }
    }

    mutating func beginResponse() {
        if !exchange(&hasBegunResponse, with: true) { add { $0.firstByteReceived($1) } }
    }

    mutating func end(with error: any Error) {
        guard let error = error as? any HTTPError else { return }
        let metrics = error.context?.metrics ?? metrics
        end { [isCancelled = error.isCancelled] in
            if isCancelled {
                $0.fetchCancelled($1, metrics: metrics)
            } else {
                $0.fetchFailed($1, error: error, metrics: metrics)
            }
        }
    }

    mutating func end(with response: HTTP.Response) { end { $0.fetchSucceeded($1, response: response) } }

    private mutating func end(_ report: @escaping @Sendable (any EventListener, FetchEvent) -> Void) {
        if isOver { return }
        endHop()
        reporter.add(at: place, report)
        (isOver, stream, streamFailure) = (true, nil, nil)
    }

    mutating func endHop() {
        endPhase()
        release()
    }

    private mutating func endPhase() {
        switch phase.take() {
        case .resolving: add { $0.nameLookupEnded($1) }
        case .connecting: add { $0.connectEnded($1) }
        case .securing: add { $0.tlsEnded($1) }
        default: break
        }
    }

    private mutating func release() {
        if let connection = connection.take() { add { $0.connectionReleased($1, connection: connection) } }
    }
}
