internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The session's events of the transfer's task, on the session's delegate queue.
extension HopTransfer {
    func received(_ response: URLResponse) {
        let challenged = state.withLock { state in
            if state.clock.firstByte == nil { state.clock.firstByte = .now }
            state.backlog.add(state.answer.received(response))
            return state.answer.mayBeChallenged ? state.sink : nil
        }
        challenged?.entered(.receiving)
        deliver()
    }

    func received(_ data: Data) {
        state.withLock { state in state.backlog.add(state.answer.received(data), limit: hop.options.limits.body) }
        deliver()
    }

    func sent(_ count: Int64) {
        let (sink, total, isAll) = state.withLock { state in
            state.bytesSent = state.progress.sent(count)
            state.hasSent = true
            // A server may answer before it has the whole body; then the head is no longer awaited.
            let isAll = state.bytesSent >= state.content.length && !state.answer.hasReportedHead
            return (state.sink, state.bytesSent, isAll)
        }
        sink?.sent(total)
        if isAll { sink?.entered(.waiting) }
    }

    /// A stream of the body from its first byte on. URLSession asks for one at the start, and again when it repeats the request:
    /// with a credential, or after a keep-alive connection turned out dead.
    func newContentStream() -> InputStream {
        let content = state.withLock { $0.content }
        let stream = content.stream { [weak self] error in self?.state.withLock { $0.contentFailure = error } }
        state.withLock { $0.progress.begin(stream as? SourceStream) }
        return stream
    }

    /// Refuses to follow a redirect. URLSession waits for the answer; a cancel may end that wait, and an answer after it would
    /// crash the process. So both are decided under one lock.
    func redirected(_ completionHandler: @Sendable (URLRequest?) -> Void) {
        state.withLock { if $0.cancelling == nil { completionHandler(nil) } }
    }

    /// The task has ended and was removed from the table.
    ///
    /// URLSession forgets the task when this returns, and a cancel in progress at that moment would crash the process. So this
    /// waits for such a cancel and prevents later ones.
    func completed(_ task: URLSessionTask, _ error: (any Error)?) {
        let response = task.response
        let (cancelling, hadPlace) = state.withLock { state in
            if case .carried = state.stage { state.stage = .completed }
            if error != nil, let failure = state.contentFailure {
                state.backlog.add([.failed(.requestBody(failure))])
            } else {
                state.backlog.add(state.answer.completed(response, error, hasSent: state.hasSent))
            }
            return (state.cancelling, exchange(&state.hasPlace, with: false))
        }
        cancelling?.wait()
        if hadPlace { session.places.leave(hop.origin) }
        deliver()
    }

    /// Reports events to the sink until it pauses. Events after the end are dropped.
    func deliver() {
        while true {
            let (event, sink) = state.withLock { ($0.backlog.next(), $0.sink) }
            guard let event else { return }
            guard let sink else { continue }
            switch event {
            case .informational(let response): sink.informational(response)
            case .head(let response): sink.head(response)
            case .withheld(let count): sink.withheld(count)
            case .body(let data):
                if !sink.body(data) { state.withLock { $0.backlog.hold() } }
            case .finished:
                let metrics = state.withLock { $0.metrics }
                end()?.finished(trailers: nil, metrics: metrics)
            case .failed(let failure): report(failure)
            }
        }
    }
}
