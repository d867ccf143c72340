internal import Dispatch
public import FoundationEssentials

/// Requests are checked, and made hops.
extension FetchLoop {
    /// Checks a request and works out how it is carried.
    ///
    /// - Returns: Besides, the request without the jar's cookies, and the fragment that was left out.
    func makeHop(
        _ request: HTTP.Request
    ) throws(HopFailure) -> (HTTPHop, HTTP.Request, fragment: String?) {
        let recentHop = context.recentHop
        if let recent = recentHop?.hop(for: request, options: options, allowsWithholding: receiver == nil) {
            let hop = recent.trusting(try trust(for: recent.origin, after: recent.trust))
            if hop !== recent { recentHop?.keep(hop) }
            return (hop, request, nil)
        }
        let (checked, origin, urlText, fragment) = try check(request)
        let trust = try trust(for: origin)
        let source = try open(checked)
        let hop = HTTPHop(
            request: cookiesAndHSTS.isOn
                ? cookiesAndHSTS.withCookies(checked, origin: origin, urlText: urlText) : checked,
            origin: origin,
            urlText: urlText,
            options: options,
            trust: trust,
            source: source,
            allowsWithholding: receiver == nil,
            servesAgain: options === context.options && checked.body.isNone
        )
        if fragment == nil { recentHop?.keep(hop) }
        return (hop, checked, fragment)
    }

    private func check(
        _ request: HTTP.Request
    ) throws(HopFailure) -> (HTTP.Request, HTTP.Origin, urlText: String, fragment: String?) {
        do throws(HTTP.InvalidValue) {
            let secured = cookiesAndHSTS.isOn ? try cookiesAndHSTS.secured(request) : request
            return try secured.checked(pathAsIs: options.value.pathAsIs)
        } catch {
            throw .invalidRequest(error.reason)
        }
    }

    private func trust(for origin: HTTP.Origin, after last: ServerTrust = .ordinary) throws(HopFailure) -> ServerTrust {
        do { return try context.trust(for: origin, after: last) } catch { throw .untrusted(error) }
    }

    /// Opens a request's content, if it is read piece by piece.
    private func open(_ request: HTTP.Request) throws(HopFailure) -> (any HTTPBodySource)? {
        // A weak reference costs every later one; most requests have nothing to read.
        guard request.body.isRead else { return nil }
        let source: (any HTTPBodySource)?
        do { source = try request.body.open { [weak self] in self?.sourceIsReady() } } catch {
            switch error {
            case .unreadable(let error): throw .requestBody(error)
            case .notReplayable: throw .bodyNotReplayable()
            }
        }
        if let source {
            do { try request.checkLength(of: source) } catch { throw .invalidRequest(error.reason) }
        }
        return source
    }
}

/// The latest hop of an engine that can be used again, as one without a body can. If the same request is fetched again, it is not
/// checked again. A small fetch would take 10 % more instructions without it.
final class RecentHop: Sendable {
    private let hop = Lock<HTTPHop?>(nil)

    /// The hop, if it is this very request's, carried out in this way.
    func hop(for request: HTTP.Request, options: Shared<HTTP.Options>, allowsWithholding: Bool) -> HTTPHop? {
        guard let hop = hop.withLock({ $0 }), hop.request.isIdentical(to: request), hop.shared === options,
            hop.allowsWithholding == allowsWithholding
        else { return nil }
        return hop
    }

    /// Keeps a hop, if it can be used again.
    func keep(_ latest: HTTPHop) {
        guard latest.servesAgain else { return }
        let last = hop.withLock { exchange(&$0, with: latest) }
        withExtendedLifetime(last) {}  // Released after the lock.
    }
}

/// The events of the reader and the source of bodies.
extension FetchLoop {
    /// The reader of the stream has room again.
    func readerResumed() { state.withLock { $0.readerResumed(now: .now) }?.resumeReceiving() }

    func sourceIsReady() {
        state.withLock { $0.sourceIsReady() }?.resumeSending()
    }
}

/// The deadline of the fetch: when its clocks are read.
extension FetchLoop: DeadlineEntry {
    func deadlineReached(_ now: MonotonicTime) -> MonotonicTime? {
        let (reading, attempt) = state.withLock { ($0.isEnded ? nil : $0.clocks.read(now), $0.attemptNumber) }
        switch reading {
        case nil: return nil
        case .running(until: let deadline): return deadline
        case .expired(let timeout, let phase):
            run(.settle(.failed(.timedOut(timeout, during: phase)), of: .attempt(attempt)))
            return state.withLock { state in
                guard !state.isEnded else { return nil }
                if case .running(until: let deadline) = state.clocks.read(now) { return deadline }
                // The end waits for the interceptors: look again in a tick of the timer.
                return now + .milliseconds(8)
            }
        }
    }
}

/// Takes the events of one hop for its fetch. Each comes with the hop's number, so that a hop that is over is not mistaken for the
/// next.
@usableFromInline
final class HopSink<Failure: Error>: HTTPTransferSink {
    @usableFromInline let loop: FetchLoop
    @usableFromInline let hop: Int

    @inlinable
    init(_ loop: FetchLoop, hop: Int) {
        self.loop = loop
        self.hop = hop
    }

    private var cookiesAndHSTS: CookiesAndHSTS { loop.cookiesAndHSTS }

    @usableFromInline
    func entered(_ phase: HTTP.Phase) {
        loop.state.withLock { state in
            guard state.note(hop: hop, { $0.entered(phase, now: .now, isSameHop: true) }) != nil else { return }
            state.trace?.entered(phase)
        }
    }

    @usableFromInline
    func entered(_ phase: HTTP.Phase, on connection: HTTP.Connection, isReused: Bool) {
        loop.state.withLock { $0.entered(phase, on: connection, isReused: isReused, hop: hop, now: .now) }
    }

    @usableFromInline
    func sent(_ total: Int64) {
        loop.state.withLock { state in
            guard let hop = state.note(hop: hop, { $0.sent(now: .now) }) else { return }
            hop.sent = total
            state.trace?.sent(total)
            guard let onBytesSent = loop.options.value.onBytesSent else { return }
            // Queued under the lock: the completion, which is queued later, is called after this.
            loop.queue.async { [length = hop.contentLength] in onBytesSent(total, length) }
        }
    }

    @usableFromInline
    func mismatched(_ report: ServerTrustReport) { loop.context.reporter?(report) }

    @usableFromInline
    func informational(_ response: HTTP.Response) {
        let isInformational = response.status.statusClass == .informational
        let isCurrent = loop.state.withLock { state in
            guard state.note(hop: hop, { $0.progressed(now: .now) }) != nil else { return false }
            state.trace?.received(informational: response)
            if isInformational, let onInformational = loop.options.value.onInformational {
                loop.queue.async { onInformational(response) }
            }
            return true
        }
        if isCurrent, !isInformational, cookiesAndHSTS.isOn { cookiesAndHSTS.received(response) }
    }

    @usableFromInline
    func head(_ head: HTTP.Response) {
        // User code, so it runs before the lock is taken; so do the clocks of cookies and HSTS below.
        let fails = loop.options.value.failsForStatus(head.status)
        guard cookiesAndHSTS.isOn else {
            return loop.act { $0.received(head: head, fails: fails, hop: hop, now: .now) }
        }
        guard let request = loop.state.withLock({ $0.current(hop)?.request }) else { return }
        cookiesAndHSTS.received(head)
        let secured = securedRedirect(head, to: request)
        loop.act { $0.received(head: head, fails: fails, secured: secured, hop: hop, now: .now) }
    }

    /// The https URL that HSTS demands in place of the one a redirect leads to, if any.
    private func securedRedirect(_ head: HTTP.Response, to request: HTTP.Request) -> Result<URL?, HTTP.InvalidValue> {
        let policy = loop.options.value.redirects
        guard let named = try? Redirect.location(of: head, to: request, policy: policy)?.url else {
            return .success(nil)
        }
        return Result { () throws(HTTP.InvalidValue) in try cookiesAndHSTS.secured(named) }
    }

    @usableFromInline
    func body(_ chunk: Data) -> Bool {
        if let receiver = loop.receiver, loop.state.withLock({ $0.isStreaming(hop) }) {
            let hasRoom = receiver.take(chunk)
            // Asked again: if the reader has made room meanwhile, its `readerResumed` came too early to end the pause.
            loop.state.withLock { $0.streamed(chunk.count, hop: hop, hasRoom: receiver.hasRoom, now: .now) }
            let limit = loop.options.value.limits.body
            if !hasRoom, !loop.context.holdsBack, receiver.exceeds(limit) {
                loop.run(.settle(.failed(.bodyTooLarge(limit: limit))))
            }
            return hasRoom
        }
        loop.act { $0.received(body: chunk, hop: hop, now: .now) }
        return true
    }

    @usableFromInline
    func withheld(_ count: Int64) { loop.act { $0.withheld(count, hop: hop, now: .now) } }

    @usableFromInline
    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        loop.context.counts.add(metrics)
        if let receiver = loop.receiver, loop.state.withLock({ $0.isStreaming(hop) }) {
            var metrics = metrics
            loop.state.withLock { state in
                state.complete(&metrics, of: state.current(hop), now: .now)
                state.trace?.finished(metrics)
            }
            receiver.finish(trailers: trailers, metrics: metrics)
            let (ends, last) = loop.state.withLock { $0.streamFinished() }
            last?.source?.close()
            return loop.run(ends ? .done(.resultStored) : .wait)
        }
        loop.act { $0.finished(trailers: trailers, metrics: metrics, hop: hop, now: .now) }
    }

    /// A collected response may come at once. It is passed on without a copy, to be completed in its place.
    @usableFromInline
    func finished(_ response: consuming HTTP.Response, body: Data, trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        guard loop.receiver == nil && !cookiesAndHSTS.isOn else {
            self.head(response)
            if !body.isEmpty { _ = self.body(body) }
            return finished(trailers: trailers, metrics: metrics)
        }
        loop.context.counts.add(metrics)
        let fails = loop.options.value.failsForStatus(response.status)
        var head: HTTP.Response? = consume response
        loop.act {
            $0.finished(
                head.take(),
                fails: fails,
                body: body,
                trailers: trailers,
                metrics: metrics,
                hop: hop,
                now: .now
            )
        }
    }

    @usableFromInline
    func failed(_ failure: HTTPTransferFailure<Failure>, metrics: HTTP.Metrics) {
        loop.context.counts.add(metrics)
        let failure = failure.fetchError
        loop.act { $0.failed(failure, metrics: metrics, hop: hop, now: .now) }
    }
}
