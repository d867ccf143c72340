internal import Dispatch
internal import FoundationEssentials

/// HTTPInterceptors run around an attempt, in a task; the innermost `next` has its request carried.
extension FetchLoop {
    func intercept(_ request: HTTP.Request, _ attempt: Attempt, for delegate: any FetchDelegate) -> FetchState.Step {
        let interception = Interception(delegate)
        guard state.withLock({ $0.begin(interception, of: attempt) }) else { return .wait }
        interception.begin(
            request,
            carry: { [self] sent in
                queue.async {
                    guard self.state.withLock({ $0.ask(interception, now: .now) }) else { return interception.close() }
                    // `next` was cancelled before its request was sent.
                    if interception.isAbandoned { return self.abandon(interception) }
                    self.delegate?.keep(sent, of: attempt.number)
                    let hasMoved = sent.hasOtherOrigin(than: request)
                    self.run(self.carryWithSessionFields(sent, of: attempt, hasMoved: hasMoved))
                }
            },
            abandon: { [self] in abandon(interception) },
            then: { [self] result in
                let ending = await ending(of: result, interception, attempt, request)
                queue.async { self.run(self.intercepted(ending, interception, attempt)) }
            }
        )
        return .wait
    }

    /// The task that waits in `next` was cancelled: ends its request.
    private func abandon(_ interception: Interception) {
        guard let settled = state.withLock({ $0.abandon(interception, now: .now) }) else { return }
        release(settled.held, after: .cancelled)
    }

    /// What an attempt has come to with the interceptors' result.
    private func ending(
        of result: Result<HTTP.Reply, any Error>,
        _ interception: Interception,
        _ attempt: Attempt,
        _ request: HTTP.Request
    ) async -> Ending {
        let reply: HTTP.Reply
        do { reply = try result.get() } catch {
            guard interception.hasAsked else { return .noRequest(error) }
            let context = interception.head.map { HTTP.FetchContext($0) }
            return interception.isAnswered ? .rejected(error, context) : .thrown(error, context)
        }
        do {
            let fails = options.value.failsForStatus(reply.response.status)
            let head = complete(reply.response, interception.head, attempt, request)
            if receiver != nil, !fails { return .opened(head, reply.body) }
            let body = try await reply.body.collect(upTo: options.value.limits.body)
            return .whole(head, body, method: head.request?.method ?? request.method, fails: fails)
        } catch {
            return interception.hasAsked ? .thrown(error) : .noRequest(error)
        }
    }

    /// A response that an interceptor made has what the engine knows of the one that it got, or of the fetch.
    private func complete(
        _ response: HTTP.Response,
        _ received: HTTP.Response?,
        _ attempt: Attempt,
        _ request: HTTP.Request
    ) -> HTTP.Response {
        guard response.request == nil else { return response }
        var response = response
        response.ended(
            trailers: response.trailers ?? received?.trailers,
            redirects: received?.redirects ?? [],
            metrics: received?.metrics ?? HTTP.Metrics(),
            attempt: attempt.number
        ) { metrics in
            if received == nil { state.withLock { $0.complete(&metrics, of: nil, now: .now) } }
        }
        response.request = received?.request ?? request.withoutBody
        return response
    }

    /// The attempt goes on with what the interceptors came to, on the queue.
    func intercepted(_ ending: Ending, _ interception: Interception, _ attempt: Attempt) -> FetchState.Step {
        interception.close()
        switch state.withLock({ $0.end(interception, with: ending) }) {
        case nil: return .wait
        case .opening:
            if case .opened = ending { return report(ending) }
            // The reader's buffer is in use: there is no other attempt.
            return .done(ending, of: .attempt(attempt.number))
        case .attempt:
            // Interceptors see the beginning of an attempt before its end.
            if case .noRequest = ending {} else { delegate?.reportScheduled(attempt) }
            return .settle(ending, of: .attempt(attempt.number))
        }
    }

    /// The reader of a stream has gone.
    func readerLeft() {
        let (cancels, held) = state.withLock { $0.leaveStream() }
        if cancels { cancel() }
        if let held { release(held, after: .resultStored) }
    }
}
