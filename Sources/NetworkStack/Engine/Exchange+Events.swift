internal import Dispatch
internal import FoundationEssentials

/// What the transfer of a hop tells, and the reader and the source of what it carries.
extension Exchange {
    /// The reader of the stream has room again.
    func goOn() { state.withLock { $0.goesOn(now: .now) }?.resumeReceiving() }

    func sourceIsReady() {
        state.withLock { $0.sourceIsReady() }?.resumeSending()
    }

    func entered(_ phase: HTTP.Phase, hop: Int) {
        state.withLock { $0.entered(phase, hop: hop, now: .now) }
    }

    func sent(_ total: Int64, hop: Int) {
        state.withLock { state in
            state.sent(hop: hop, now: .now)
            guard state.isCurrent(hop), let hear = options.value.onBytesSent else { return }
            // Queued under the lock: the fetch's end, which comes after this, is told after this.
            queue.async { [length = state.contentLength] in hear(total, length) }
        }
    }

    func received(informational response: HTTP.Response, hop: Int) {
        let isInformational = response.status.statusClass == .informational
        let isHeard = state.withLock { state in
            state.progressed(hop: hop, now: .now)
            guard state.isCurrent(hop) else { return false }
            if isInformational, let hear = options.value.onInformational { queue.async { hear(response) } }
            return true
        }
        if isHeard, !isInformational, memory.isOn { memory.received(response) }
    }

    func received(head: HTTP.Response, hop: Int) {
        guard memory.isOn else { return act { $0.received(head: head, hop: hop, now: .now) } }
        guard let request = state.withLock({ $0.isCurrent(hop) ? $0.request : nil }) else { return }
        // The clocks of cookies and HSTS are the user's: they are read before the lock is taken.
        memory.received(head)
        let secured = securedRedirect(head, to: request)
        act { $0.received(head: head, secured: secured, hop: hop, now: .now) }
    }

    /// The https URL that HSTS demands in place of the one a redirect leads to, if any.
    private func securedRedirect(_ head: HTTP.Response, to request: HTTP.Request) -> Result<URL?, HTTP.InvalidValue> {
        let policy = options.value.redirects
        guard let named = try? Redirect.location(of: head, to: request, policy: policy)?.url else {
            return .success(nil)
        }
        return Result { () throws(HTTP.InvalidValue) in try memory.secured(named) }
    }

    /// Answers whether there is room for more.
    func received(body chunk: Data, hop: Int) -> Bool {
        if let receiver, state.withLock({ $0.stage == .streaming && $0.isCurrent(hop) }) {
            let hasRoom = receiver.take(chunk)
            // Asked again: the reader may have made room meanwhile, and said so before this would be noted.
            state.withLock { $0.streamed(hop: hop, hasRoom: receiver.hasRoom, now: .now) }
            return hasRoom
        }
        act { $0.received(body: chunk, hop: hop, now: .now) }
        return true
    }

    func withheld(_ count: Int64, hop: Int) {
        act { $0.withheld(count, hop: hop, now: .now) }
    }

    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics, hop: Int) {
        if let receiver, state.withLock({ $0.stage == .streaming && $0.isCurrent(hop) }) {
            var metrics = metrics
            state.withLock { $0.complete(&metrics, now: .now) }
            receiver.finish(trailers: trailers, metrics: metrics)
            if state.withLock({ $0.streamFinished() }) { end(.judged) }
            return
        }
        act { $0.finished(trailers: trailers, metrics: metrics, hop: hop, now: .now) }
    }

    /// What is collected may come at once. The response is handed on as the only one of it, to be completed in its place.
    func finished(
        _ response: consuming HTTP.Response,
        body: Data,
        trailers: HTTP.Headers?,
        metrics: HTTP.Metrics,
        hop: Int
    ) {
        guard receiver == nil && !memory.isOn else {
            received(head: response, hop: hop)
            if !body.isEmpty { _ = received(body: body, hop: hop) }
            return finished(trailers: trailers, metrics: metrics, hop: hop)
        }
        var head: HTTP.Response? = consume response
        act { $0.finished(head.take(), body: body, trailers: trailers, metrics: metrics, hop: hop, now: .now) }
    }

    @usableFromInline
    func failed(_ failure: HopFailure, metrics: HTTP.Metrics, hop: Int) {
        act { $0.failed(failure, metrics: metrics, hop: hop, now: .now) }
    }
}
