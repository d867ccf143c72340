internal import FoundationEssentials

/// The response of a hop, piece by piece.
extension FetchState {
    /// The body of a redirect beyond this is not worth waiting for to keep the connection.
    private static let drainLimit: Int64 = 64 * 1024
    /// What is collected of an unsuccessful response's body, for its error, when bodies are streamed.
    private static let errorLimit: Int64 = 1024 * 1024

    private var limits: HTTP.Options.Limits { options.value.limits }

    /// The head has arrived. `secured` is the https URL that HSTS demands in place of the one it redirects to, if any. `fails` is
    /// whether its status is a failure by the fetch's options, which run user code.
    mutating func received(
        head response: consuming HTTP.Response,
        fails: Bool,
        secured: Result<URL?, HTTP.InvalidValue> = .success(nil),
        hop number: Int,
        now: MonotonicTime
    ) -> Step {
        guard let hop = current(number) else { return .wait }
        clocks.entered(.receiving, now: now)
        trace?.received(head: response)
        hop.head = response
        // The body of a challenge before it does not count.
        hop.withheld = 0
        hop.fails = fails
        do {
            hop.next = response.status.statusClass == .redirection ? try redirect(response, of: hop, secured) : nil
        } catch {
            return requestEnded(.failed(error))
        }
        // What follows is another protocol's (RFC 9110 section 15.2.2), which was not asked for.
        if response.status == .switchingProtocols { return whole(hop, metrics: measure(hop, now: now), now: now) }
        if deliversStream, hop.next == nil, !hop.fails {
            stage = .opening(hop, isReported: false)
            clocks.opened()
            let metrics = measure(hop, now: now)
            guard let head = takeResponse(of: hop, trailers: nil, metrics: metrics, now: now) else { return .wait }
            trace?.opened(head)
            return .open(head)
        }
        if let length = response.headers.announcedLength, hop.request.method != .HEAD {
            if let next = hop.next {
                return length > Self.drainLimit ? abandon(hop, following: next, response, now: now) : .wait
            }
            if length > limits.body, !response.status.neverHasBody, !deliversStream {
                return requestEnded(.failed(.bodyTooLarge(limit: limits.body)))
            }
        }
        return .wait
    }

    /// Where a redirect leads, if it is to be followed.
    private func redirect(
        _ response: HTTP.Response,
        of hop: Hop,
        _ secured: Result<URL?, HTTP.InvalidValue>
    ) throws(HopFailure) -> HTTP.Request? {
        guard let origin = try? HTTP.Origin(of: hop.request.url) else { return nil }
        return try Redirect.next(
            after: response,
            to: hop.request,
            from: origin,
            fragment: hop.fragment,
            following: redirects,
            policy: options.value.redirects,
            sensitive: options.value.sensitiveHeaders,
            secured: secured
        )
    }

    mutating func received(body chunk: Data, hop number: Int, now: MonotonicTime) -> Step {
        guard let hop = current(number) else { return .wait }
        clocks.progressed(now: now)
        hop.delivered += Int64(chunk.count)
        if hop.next != nil { return drain(hop, now: now) }
        let limit = deliversStream ? Self.errorLimit : limits.body
        let room = limit - Int64(hop.body.count)
        guard Int64(chunk.count) <= room else {
            guard deliversStream else { return requestEnded(.failed(.bodyTooLarge(limit: limit))) }
            hop.body.append(chunk.prefix(Int(room)))
            return whole(hop, metrics: measure(hop, now: now), isCut: true, now: now)
        }
        if hop.body.isEmpty { hop.body = chunk } else { hop.body.append(chunk) }
        return .wait
    }

    mutating func withheld(_ count: Int64, hop number: Int, now: MonotonicTime) -> Step {
        guard let hop = current(number) else { return .wait }
        clocks.progressed(now: now)
        hop.withheld = max(hop.withheld, count)
        if hop.next != nil { return drain(hop, now: now) }
        return count <= limits.body ? .wait : requestEnded(.failed(.bodyTooLarge(limit: limits.body)))
    }

    mutating func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics, hop number: Int, now: MonotonicTime)
        -> Step
    {
        guard case .carrying(let hop) = stage, hop.number == number else { return .wait }
        hop.transfer = nil
        trace?.finished(metrics)
        // No reference to the head is kept here: the response is completed in place.
        if let next = hop.next, let head = hop.head { return follow(next, hop, head, metrics, now: now) }
        if hop.head == nil {
            self.metrics = metrics
            return requestEnded(.failed(.badResponse(nil)))
        }
        return whole(hop, trailers: trailers, metrics: metrics, now: now)
    }

    /// Head, body and end came at once.
    mutating func finished(
        _ response: consuming HTTP.Response?,
        fails: Bool,
        body: Data,
        trailers: HTTP.Headers?,
        metrics: HTTP.Metrics,
        hop: Int,
        now: MonotonicTime
    ) -> Step {
        guard let response = consume response else { return .wait }
        var step = received(head: consume response, fails: fails, hop: hop, now: now)
        if case .wait = step, !body.isEmpty { step = received(body: body, hop: hop, now: now) }
        guard case .wait = step else { return step }
        return finished(trailers: trailers, metrics: metrics, hop: hop, now: now)
    }

    /// The hop has failed.
    mutating func failed(_ failure: HopFailure, metrics: HTTP.Metrics, hop number: Int, now: MonotonicTime) -> Step {
        guard let hop = current(number) else { return .wait }
        hop.transfer = nil
        var metrics = metrics
        clocks.marks.complete(&metrics, now: now)
        self.metrics = metrics
        if case .timedOut(let timeout, let phase, _) = failure {
            return requestEnded(.failed(.timedOut(timeout, during: clocks.reported(phase))))
        }
        return requestEnded(.failed(failure))
    }

    private func requestEnded(_ ending: Ending) -> Step { .settle(ending, of: .request(of: attemptNumber)) }

    private mutating func drain(_ hop: Hop, now: MonotonicTime) -> Step {
        guard let next = hop.next, let head = hop.head, hop.received > Self.drainLimit else { return .wait }
        return abandon(hop, following: next, head, now: now)
    }

    /// Follows a redirect without its body, which is too long.
    private mutating func abandon(
        _ hop: Hop,
        following next: HTTP.Request,
        _ head: HTTP.Response,
        now: MonotonicTime
    ) -> Step {
        let transfer = hop.transfer.take()
        return follow(next, hop, head, measure(hop, now: now), now: now, abandoning: transfer)
    }

    private mutating func follow(
        _ next: HTTP.Request,
        _ hop: Hop,
        _ head: HTTP.Response,
        _ metrics: HTTP.Metrics,
        now: MonotonicTime,
        abandoning transfer: (any HTTPTransfer)? = nil
    ) -> Step {
        var metrics = metrics
        metrics.complete(hop.connection)
        clocks.marks.addEnd(to: &metrics, now: now)
        earlier.append(
            HTTP.EarlierHop(
                attempt: attemptNumber,
                method: hop.request.method,
                url: hop.request.url.redactedDescription,
                start: clocks.hopStart,
                status: head.status,
                metrics: metrics
            )
        )
        trace?.redirected(head)
        redirects.append(.init(url: hop.request.url, status: head.status))
        stage = .redirecting(hop)
        return .follow(next, abandoning: transfer, closing: hop.source.take(), of: attemptNumber)
    }

    /// Takes the head, and adds what the engine knows besides.
    private func takeResponse(
        of hop: Hop,
        trailers: HTTP.Headers?,
        metrics: HTTP.Metrics,
        now: MonotonicTime
    ) -> HTTP.Response? {
        guard var response = hop.head.take() else { return nil }
        // The redirects' targets inherit it (RFC 9110 section 10.2.2); the transport never saw it.
        if let fragment = hop.fragment { response.url = response.url.with(fragment: fragment) }
        response.ended(
            trailers: trailers,
            redirects: redirects,
            metrics: metrics,
            attempt: attemptNumber
        ) { complete(&$0, of: hop, now: now) }
        response.request = hop.request.withoutBody
        return response
    }

    /// The response has come, as far as it is used.
    private func whole(
        _ hop: Hop,
        trailers: HTTP.Headers? = nil,
        metrics: HTTP.Metrics,
        isCut: Bool = false,
        now: MonotonicTime
    ) -> Step {
        guard var response = takeResponse(of: hop, trailers: trailers, metrics: metrics, now: now) else {
            return .wait
        }
        if isCut { response.isErrorBodyCut = true }
        let body = exchange(&hop.body, with: Data())
        return requestEnded(.whole(response, body, method: hop.request.method, fails: hop.fails))
    }
}

/// What follows the head of a response whose body is streamed.
extension FetchState {
    /// Whether the head of a stream has come and the fetch has not ended: in this attempt, or in any if none is named.
    func hasStreamHead(in number: Int?) -> Bool {
        switch stage {
        case .opening, .openingLate, .streaming: number ?? attemptNumber == attemptNumber
        default: false
        }
    }

    /// Whether this hop is under way and its body goes to a reader.
    func isStreaming(_ number: Int) -> Bool { isCurrent(number) && hasStreamHead(in: nil) }

    /// Bytes of a stream came, and its reader has room for more or not.
    mutating func streamed(_ count: Int, hop: Int, hasRoom: Bool, now: MonotonicTime) {
        guard isStreaming(hop) else { return }
        activeHop?.delivered += Int64(count)
        clocks.heldBack(!hasRoom, now: now)
    }

    /// The reader of a stream has room again. Returns the transfer to resume.
    mutating func readerResumed(now: MonotonicTime) -> (any HTTPTransfer)? {
        guard hasStreamHead(in: nil), let hop = activeHop else { return nil }
        clocks.heldBack(false, now: now)
        if hop.transfer == nil { hop.resumesReceiving = true }
        return hop.transfer
    }

    /// The head of a stream is to be delivered. Returns when, and whether the stream has ended already.
    mutating func open(_ ending: Ending) -> OpenedStream {
        let isOver: Bool
        switch stage {
        case .opening(let hop, _): (stage, isOver) = (.streaming(hop), false)
        case .openingLate: (stage, isOver) = (.openingLate(isReported: true), true)
        default: return OpenedStream(moment: .later, isOver: false)
        }
        var delegate = delegate  // The stream needs it, too.
        return OpenedStream(moment: delivery.ended(ending, by: &delegate), isOver: isOver)
    }

    /// When to deliver the head of a stream.
    struct OpenedStream: ~Copyable {
        let moment: Delivery.Moment
        let isOver: Bool
    }

    /// A stream has come to its end. Returns whether to end the fetch now; if not, its head is delivered first, and the caller
    /// closes the source of its hop.
    mutating func streamFinished() -> (ends: Bool, last: Hop?) {
        switch stage {
        case .opening(let hop, let isReported):
            stage = .openingLate(isReported: isReported)
            hop.transfer = nil
            return (false, hop)
        // An interceptor dropped the stream meanwhile.
        case .openingLate: return (false, nil)
        default:
            activeHop?.transfer = nil
            return (true, nil)
        }
    }

    /// A stream has failed. Returns what to release if its head is not delivered yet: it is delivered all the same, since a
    /// success was, or is being, reported to the interceptors. A cancel does not wait for that. While HTTPInterceptors run, nothing has
    /// been reported, and a final failure ends the fetch.
    mutating func streamFailed(_ ending: Ending) -> HeldResources? {
        if ending.isCancelled || interceptorsRun && ending.isFinal { return nil }
        switch stage {
        case .opening(_, let isReported), .openingLate(let isReported):
            let opening = exchange(&stage, with: .openingLate(isReported: isReported))
            clocks.streamFailed()
            // The total clock goes on while interceptors run.
            return HeldResources(stage: opening, ticket: interceptorsRun ? nil : ticket.take())
        default: return nil
        }
    }
}
