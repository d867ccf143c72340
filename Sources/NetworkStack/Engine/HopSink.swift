internal import Dispatch
public import FoundationEssentials

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
