internal import FoundationEssentials

/// The ends of attempts and of the exchange.
extension ExchangeState {
    /// What has to be let go of when an attempt or the exchange ends, outside the lock: what a closure of the user's holds may
    /// go with it, and give the fetch up at that.
    struct Remains: ~Copyable {
        /// What makes the request, or transforms the content, or waits for the next attempt.
        var pending: (any Cancelable)?
        var transfer: (any HTTPTransfer)?
        var source: (any HTTPBodySource)?
        var ticket: TimerWheel.Ticket?
        var request: HTTP.Request?
        var steps: (any ExchangeSteps)?
        var errors: [any Error] = []
    }

    /// An attempt that is over, and what to let go of.
    struct Settled: ~Copyable {
        let remains: Remains
        let attempt: Attempt
    }

    /// An exchange's end: what to let go of, and when to call the completion.
    struct Ended: ~Copyable {
        let remains: Remains
        let moment: Delivery.Moment
        /// Who serves a stream that somebody may be reading.
        let streaming: (any ExchangeSteps)?
    }

    /// The attempt is over and is to be looked at. Answers it and what to let go of, or `nil` if it was over.
    mutating func settle(_ ending: Ending, of number: Int? = nil, now: MonotonicTime) -> Settled? {
        guard stage == .making || stage == .carrying, var attempt, attempt.number == number ?? attempt.number else {
            return nil
        }
        guard !isScheduling else {
            endingAfterScheduling = endingAfterScheduling ?? ending
            return nil
        }
        attempt.retryState.requestMayHaveArrived = clocks.hasSent
        stage = .settling
        clocks.entered(.settling, now: now)
        return Settled(remains: letGo(keepingTicket: true), attempt: attempt)
    }

    /// Keeps what cancels the settling. Answers it back if it is to be cancelled at once.
    mutating func hold(settling: any Cancelable, of attempt: Attempt) -> (any Cancelable)? {
        if stage == .ended { return settling }
        if stage == .settling, isCurrent(attempt) { remains.pending = settling }
        return nil
    }

    /// Answers whether the interceptors are still to be told the attempt's end; they are, by whoever is answered yes. Besides,
    /// what settled it, to be let go of.
    mutating func tell() -> (tells: Bool, settling: (any Cancelable)?) {
        guard stage == .settling || stage == .streaming, !isTold else { return (false, nil) }
        isTold = true
        return (true, remains.pending.take())
    }

    /// The attempt has failed, and another is to be made. Answers the state, or `nil` if the exchange has ended.
    mutating func failed(_ error: any Error, delay: Retry.Delay?, now: MonotonicTime) -> Retry.State? {
        guard stage == .settling else { return nil }
        retryState.errors.append(error)
        if let delay {
            retryState.delayed(by: delay)
            stage = .delayed
            clocks.entered(.delayed, now: now)
        }
        return retryState
    }

    /// Keeps what waits for the next attempt. Answers it back if it is to be cancelled at once.
    mutating func hold(delayed: any Cancelable, after state: Retry.State) -> (any Cancelable)? {
        if stage == .ended { return delayed }
        if stage == .delayed, state.attemptCount == retryState.attemptCount { remains.pending = delayed }
        return nil
    }

    /// Head, content and end came at once.
    mutating func finished(
        _ response: consuming HTTP.Response?,
        body: Data,
        trailers: HTTP.Headers?,
        metrics: HTTP.Metrics,
        hop: Int,
        now: MonotonicTime
    ) -> Verdict {
        guard let response = consume response else { return .ignore }
        var verdict = received(head: consume response, hop: hop, now: now)
        if case .goOn = verdict, !body.isEmpty { verdict = received(body: body, hop: hop, now: now) }
        guard case .goOn = verdict else { return verdict }
        return finished(trailers: trailers, metrics: metrics, hop: hop, now: now)
    }

    /// Ends the exchange. Answers what to let go of and when to call the completion, or `nil` if it had ended, if another attempt than the
    /// one with this number has begun, or if it ends when the interceptors have been told that the attempt is scheduled. If
    /// somebody intercepts, the call tells them the end of an attempt that has not been told.
    mutating func end(_ ending: Ending, of number: Int? = nil, isIntercepted: Bool = false) -> Ended? {
        guard number ?? attemptNumber == attemptNumber else { return nil }
        guard stage != .ended else {
            _ = delivery.ended(ending, by: &steps)
            return nil
        }
        guard !isScheduling else {
            // A cancel always wins.
            if case .cancelled = ending { endingAfterScheduling = ending }
            if !(endingAfterScheduling?.isFinal ?? false) { endingAfterScheduling = ending }
            return nil
        }
        let telling = isIntercepted && !isTold ? attempt : nil
        let streaming = stage == .streaming ? steps : nil
        stage = .ended
        isTold = true
        var left = letGo(keepingTicket: false)
        swap(&left.steps, &steps)
        swap(&left.errors, &retryState.errors)
        // Whoever keeps the `Cancelable` keeps nothing of what the fetch went through.
        (attempt, retryState, redirects) = (nil, Retry.State(), [])
        let moment = delivery.ended(ending, telling: telling, by: &left.steps)
        return Ended(remains: left, moment: moment, streaming: streaming)
    }

    /// The hop has failed.
    mutating func failed(_ failure: HopFailure, metrics: HTTP.Metrics, hop: Int, now: MonotonicTime) -> Verdict {
        guard isCurrent(hop) else { return .ignore }
        remains.transfer = nil
        self.metrics = metrics
        if case .timedOut(let timeout, let phase) = failure {
            return .end(.failed(.timedOut(timeout, during: clocks.told(phase))))
        }
        return .end(.failed(failure))
    }

    /// Where the fetch is.
    func context(now: MonotonicTime) -> HTTP.FetchContext {
        var metrics = metrics ?? HTTP.Metrics()
        complete(&metrics, now: now)
        return HTTP.FetchContext(url: request?.url.redactedDescription, metrics: metrics, attempt: attemptNumber)
    }

    /// Takes the head, and adds what the engine knows besides.
    mutating func takeResponse(trailers: HTTP.Headers?, metrics: HTTP.Metrics, now: MonotonicTime) -> HTTP.Response? {
        guard var response = head else { return nil }
        head = nil
        // The redirects' targets inherit it (RFC 9110 section 10.2.2); the transport never saw it.
        if let fragment { response.url = response.url.with(fragment: fragment) }
        response.ended(trailers: trailers, redirects: redirects, metrics: metrics, after: now - clocks.startedAt)
        return response
    }

    /// The response has come, as far as it is wanted.
    mutating func whole(
        trailers: HTTP.Headers? = nil,
        metrics: HTTP.Metrics = .init(),
        now: MonotonicTime
    ) -> Verdict {
        guard let request, let response = takeResponse(trailers: trailers, metrics: metrics, now: now) else {
            return .ignore
        }
        return .end(.whole(response, exchange(&body, with: Data()), method: request.method))
    }

    /// Adds the figures of the whole fetch to a transport's.
    func complete(_ metrics: inout HTTP.Metrics, now: MonotonicTime) {
        metrics.complete(redirects: redirects.count, after: now - clocks.startedAt)
    }

    mutating func letGo(keepingTicket: Bool) -> Remains {
        var left = Remains()
        swap(&left, &remains)
        if keepingTicket { swap(&left.ticket, &remains.ticket) }
        swap(&left.request, &request)
        (head, next) = (nil, nil)
        body = Data()
        return left
    }
}
