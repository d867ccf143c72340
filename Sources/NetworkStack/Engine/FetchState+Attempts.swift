internal import FoundationEssentials

/// The beginnings and the ends of attempts, and the end of the fetch.
extension FetchState {
    /// What is released when an attempt or the fetch ends, outside the lock: a closure of the user's may be deallocated with
    /// it, and cancel the fetch from there.
    struct HeldResources {
        let stage: Stage
        var ticket: Deadlines.Ticket?
        var delegate: (any FetchDelegate)?
        /// With the errors of the attempts before.
        var attempt: Attempt?
        /// HTTPInterceptors that still run.
        var interception: Interception?
    }

    // MARK: Beginning

    /// An attempt that has begun.
    struct Begun: ~Copyable {
        let attempt: Attempt
        /// The ticket of the last one.
        let lastTicket: Deadlines.Ticket?
        /// When to check the timeouts.
        let firstDeadline: MonotonicTime
        let delegate: (any FetchDelegate)?
    }

    /// Begins an attempt.
    ///
    /// - Parameters:
    ///   - identifier: The attempt's.
    ///   - now: When it begins, unless it is the first, which begins with the fetch.
    ///   - firstDeadlineOffset: When to check the first attempt's timeouts, in nanoseconds after the fetch has begun, if that is
    ///     known.
    /// - Returns: The attempt, or `nil` if the fetch has ended.
    mutating func beginAttempt(
        _ identifier: Int,
        now: @autoclosure () -> MonotonicTime,
        firstDeadlineOffset: UInt64? = nil
    ) -> Begun? {
        if isEnded { return nil }
        let lastTicket = ticket.take()
        var deadline = firstDeadlineOffset.map { clocks.startedAt.after(nanoseconds: $0) }
        if attempt != nil {
            stage = .making(nil)
            (redirects, metrics) = ([], nil)
            clocks.beganAttempt(now: now())
            trace?.began(attempt: attemptNumber)
            deadline = nil
        }
        let attempt = Attempt(identifier: identifier, retryState: attempt?.retryState ?? Retry.State())
        self.attempt = attempt
        return Begun(
            attempt: attempt,
            lastTicket: lastTicket,
            firstDeadline: deadline ?? clocks.firstDeadline,
            delegate: delegate
        )
    }

    /// Keeps what cancels the making. Returns it if the caller has to cancel it now, because its attempt is over. After the request was
    /// handed over it is neither kept nor returned: it may contain the fetch itself, which the handler returned, and cancelling it
    /// would cancel the fetch.
    mutating func hold(making: any Cancelable, of attempt: Attempt) -> (any Cancelable)? {
        guard handedOver < attempt.number else { return nil }
        guard case .making = stage, isCurrent(attempt) else { return making }
        stage = .making(making)
        return nil
    }

    mutating func hold(ticket: Deadlines.Ticket, of attempt: Attempt) -> Deadlines.Ticket? {
        if isEnded || !isCurrent(attempt) { return ticket }
        self.ticket = ticket
        return nil
    }

    /// Returns whether the attempt's request is handed over for the first time, and still wanted; and the making, which the
    /// caller releases outside the lock. The time is that of a request which was not made at once.
    mutating func handOver(_ attempt: Attempt, now: MonotonicTime?) -> (isWanted: Bool, making: (any Cancelable)?) {
        guard case .making = stage, handedOver < attempt.number, isCurrent(attempt) else { return (false, nil) }
        handedOver = attempt.number
        if let now { clocks.progressed(now: now) }
        return (true, exchange(&stage, with: .making(nil)).pending)
    }

    /// The number of the attempt that is under way.
    var attemptNumber: Int { attempt?.number ?? 1 }

    func isCurrent(_ attempt: Attempt) -> Bool { attemptNumber == attempt.number }

    // MARK: Settling

    /// An attempt that is over. HTTPInterceptors that wait for its end get it first.
    typealias Settled = (held: HeldResources, attempt: Attempt, waiting: Interception?)

    /// Whether this has not ended. A request that HTTPInterceptors no longer await has: what they return counts in its place. The
    /// stream that they got of it goes on.
    func isUnderWay(_ scope: Scope) -> Bool {
        guard scope.attempt ?? attemptNumber == attemptNumber else { return false }
        guard case .request = scope else { return true }
        switch stage {
        case .making, .scheduling, .carrying, .redirecting, .openingLate: return intercepting?.isWaiting ?? true
        case .opening, .streaming: return true
        case .settling, .delayed, .ended: return false
        }
    }

    /// The attempt is over, and the interceptors decide what it comes to. Returns `nil` if it was over before.
    mutating func settle(_ ending: Ending, of scope: Scope = .fetch, now: MonotonicTime) -> Settled? {
        guard var attempt, isUnderWay(scope) else { return nil }
        switch stage {
        case .making, .carrying, .redirecting: break
        case .scheduling(let hop, let first):
            stage = .scheduling(hop, then: first ?? (ending, of: scope))
            return nil
        default: return nil
        }
        trace?.hopEnded()
        attempt.retryState.requestMayHaveArrived = clocks.hasSent
        clocks.entered(.settling, now: now)
        // The ticket is kept: the total clock goes on.
        if let waiting = takeWaiting() {
            // They may throw another fetch's error, from which nothing follows for this request.
            if !ending.isUnsent { clocks.mayHaveArrived() }
            return (HeldResources(stage: exchange(&stage, with: .making(nil))), attempt, waiting)
        }
        var held = HeldResources(stage: exchange(&stage, with: .settling(nil, isReported: false)))
        held.interception = intercepting.take()?.interception
        return (held, attempt, nil)
    }

    /// Returns whether the attempt's end is still to be reported to the interceptors, which the caller then does. Besides, what
    /// settled it, which the caller releases outside the lock.
    mutating func claimReport() -> (isFirst: Bool, settling: (any Cancelable)?) {
        switch stage {
        case .settling(let pending, isReported: false):
            stage = .settling(nil, isReported: true)
            return (true, pending)
        case .opening(let hop, isReported: false): stage = .opening(hop, isReported: true)
        case .openingLate(isReported: false): stage = .openingLate(isReported: true)
        default: return (false, nil)
        }
        return (true, nil)
    }

    /// The attempt has failed.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - hop: Its last hop, if another attempt is to be made.
    ///   - kept: What is kept of the failure then.
    ///   - delay: The wait for that.
    ///   - now: When the wait begins.
    /// - Returns: What the fetch went through, or `nil` if it has ended.
    mutating func failed(
        _ error: any Error,
        _ hop: HTTP.EarlierHop? = nil,
        keeping kept: (any Error)? = nil,
        delay: Retry.Delay?,
        now: MonotonicTime
    ) -> Retry.State? {
        guard case .settling = stage, var attempt else { return nil }
        if var hop {
            hop.start = clocks.hopStart
            // An attempt without a request has no URL. Its error's context may have the URL of the attempt before.
            let request = latest?.attempt == attempt.number ? latest : nil
            (hop.method, hop.url) = (request?.method, request?.url.redactedDescription)
            earlier.append(hop)
            trace?.retries(after: delay, error)
        }
        attempt.retryState.errors.append(kept ?? error)
        if let delay {
            attempt.retryState.delayed(by: delay)
            stage = .delayed(nil)
            clocks.entered(.delayed, now: now)
        }
        // As a whole: in a type that cannot be copied, Swift 6.3.1 leaks what a member behind an optional had before.
        self.attempt = attempt
        return attempt.retryState
    }

    /// Keeps what cancels a transformation, or the wait for the attempt with this number. Returns it if it is to be cancelled at
    /// once.
    mutating func hold(pending: any Cancelable, of attempt: Int) -> (any Cancelable)? {
        switch stage {
        case .ended: return pending
        // Not after the report: the transformation is over.
        case .settling(_, isReported: false) where attempt == attemptNumber:
            stage = .settling(pending, isReported: false)
        case .delayed where attempt == attemptNumber: stage = .delayed(pending)
        default: break
        }
        return nil
    }

    // MARK: Ending

    /// The end of a fetch: what to release, and when to call the completion.
    struct Ended: ~Copyable {
        let held: HeldResources
        let moment: Delivery.Moment
        /// Serves a stream whose reader may be waiting.
        let streaming: (any FetchDelegate)?
        /// Whether that stream was delivered: if not, the completion reports the end.
        let isDelivered: Bool
    }

    /// Ends the fetch. Returns `nil` if it had ended, if what this is the end of had, or if it ends when the scheduling of the attempt
    /// has been reported to the interceptors. With interceptors, the completion reports the end of an attempt that has not been
    /// reported.
    mutating func end(_ ending: Ending, of scope: Scope = .fetch, isIntercepted: Bool = false) -> Ended? {
        guard isUnderWay(scope) else { return nil }
        // A cancel wins over an end that has come, until the completion is called.
        if ending.isCancelled { delivery.cancel() }
        switch stage {
        case .ended: return nil
        case .scheduling(let hop, let first):
            if first?.ending.isFinal != true { stage = .scheduling(hop, then: (ending, of: scope)) }
            return nil
        default: break
        }
        if let trace {
            if ending.mayFail { trace.ends(with: context(now: .now).metrics) }
            trace.hopEnded()
        }
        let unreported = isIntercepted && !isReported ? attempt : nil
        let (streaming, isDelivered) = (hasStreamHead(in: nil) ? delegate : nil, delivery.isDecided)
        var held = HeldResources(
            stage: exchange(&stage, with: .ended),
            ticket: ticket.take(),
            delegate: delegate.take(),
            attempt: attempt.take(),
            interception: intercepting.take()?.interception
        )
        redirects = []
        let moment = delivery.ended(ending, reporting: unreported, by: &held.delegate)
        return Ended(held: held, moment: moment, streaming: streaming, isDelivered: isDelivered)
    }
}

/// One try of a fetch: its request is made afresh, and interceptors get its identifier.
struct Attempt: Sendable {
    /// Unlike that of any other attempt of the engine; 0 without interceptors.
    let identifier: Int
    /// What the fetch has been through before; and, where the attempt is voted on, whether its request may have arrived.
    var retryState: Retry.State

    /// Which of the fetch's attempts it is, from 1 on.
    var number: Int { retryState.attemptCount }
}
