internal import Dispatch
internal import FoundationEssentials

/// One hop of a queued transport: waits for a place, is carried by the transport behind, perhaps again, and frees its place.
final class QueuedTransfer<Failure: Error>: HTTPTransfer, HTTPTransferSink {
    private struct State {
        /// `nil` after the end.
        var sink: (any HTTPTransferSink<Failure>)?
        var ticket: UInt64?
        var hasPlace = false
        var transfer: (any HTTPTransfer)?
        /// How often the hop was started.
        var sends = 0
        /// How often the transport behind has sent earlier starts again by itself.
        var resends = 0
        var hasHead = false
        /// Why the request was lost that is repeated. It may have reached the server.
        var lost: HTTPTransferFailure<Failure>?
        var queueTime: Duration?
        /// Whether to resume the transfer as soon as it is known.
        var resumesSending = false
        var resumesReceiving = false
    }

    /// The most starts of one hop: a failed repeat is not repeated (RFC 9110 section 9.2.2).
    private static var mostSends: Int { 2 }

    private let hop: HTTPHop
    private let places: TransferPlaces
    private let starting: @Sendable (HTTPHop, any HTTPTransferSink<Failure>) -> any HTTPTransfer
    private let queued = ContinuousClock.now
    private let state: Lock<State>

    init(
        _ hop: HTTPHop,
        sink: any HTTPTransferSink<Failure>,
        places: TransferPlaces,
        starting: @escaping @Sendable (HTTPHop, any HTTPTransferSink<Failure>) -> any HTTPTransfer
    ) {
        self.hop = hop
        self.places = places
        self.starting = starting
        state = Lock(State(sink: sink))
    }

    private var sink: (any HTTPTransferSink<Failure>)? { state.withLock { $0.sink } }

    // MARK: The place

    func enter() {
        sink?.entered(.queued)
        guard let ticket = places.enter(hop.origin, start: { self.begin() }) else { return begin() }
        let isLate = state.withLock { state in
            state.ticket = ticket
            return state.sink == nil
        }
        if isLate { return withdraw(ticket) }
        guard let limit = hop.options.timeouts.queue else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) { [weak self] in
            guard let self, self.places.withdraw(ticket, from: self.hop.origin) else { return }
            self.refuse(.timedOut(.queue, during: .queued))
        }
    }

    /// Reports a failure before the hop has a place.
    func refuse(_ failure: HTTPTransferFailure<Failure>) {
        var metrics = HTTP.Metrics()
        metrics.queue = .now - queued
        end().sink?.failed(failure, metrics: metrics)
    }

    private func begin() {
        let isWanted = state.withLock { state in
            state.ticket = nil
            state.queueTime = .now - queued
            state.hasPlace = state.sink != nil
            return state.hasPlace
        }
        if isWanted { carry() } else { places.leave(hop.origin) }
    }

    private func withdraw(_ ticket: UInt64) {
        // One that got its place meanwhile begins, and frees it.
        _ = places.withdraw(ticket, from: hop.origin)
    }

    private func carry() {
        let number = state.withLock { state in
            state.sends += 1
            state.transfer = nil
            return state.sends
        }
        let transfer = starting(number == 1 ? hop : hop.onNewConnection(), self)
        let (cancels, resumesSending, resumesReceiving) = state.withLock { state in
            guard state.sink != nil, state.sends == number else { return (state.sink == nil, false, false) }
            state.transfer = transfer
            defer { (state.resumesSending, state.resumesReceiving) = (false, false) }
            return (false, state.resumesSending, state.resumesReceiving)
        }
        if cancels { transfer.cancel() }
        if resumesSending { transfer.resumeSending() }
        if resumesReceiving { transfer.resumeReceiving() }
    }

    /// Ends the transfer.
    ///
    /// - Returns: The sink, if the end was not reported yet; and the transfer behind. They are taken together: a transfer that is
    ///   known later finds that the hop has ended, and is cancelled.
    private func end() -> (sink: (any HTTPTransferSink<Failure>)?, transfer: (any HTTPTransfer)?) {
        let last = state.withLock { state in
            let last = state
            state.sink = nil
            (state.ticket, state.transfer, state.hasPlace) = (nil, nil, false)
            return last
        }
        if let ticket = last.ticket { withdraw(ticket) }
        if last.hasPlace { places.leave(hop.origin) }
        return (last.sink, last.transfer)
    }

    // MARK: Control

    func cancel() { end().transfer?.cancel() }

    func resumeReceiving() {
        let transfer = state.withLock { state in
            if state.transfer == nil { state.resumesReceiving = true }
            return state.transfer
        }
        transfer?.resumeReceiving()
    }

    func resumeSending() {
        let transfer = state.withLock { state in
            if state.transfer == nil { state.resumesSending = true }
            return state.transfer
        }
        transfer?.resumeSending()
    }

    // MARK: Events

    func entered(_ phase: HTTP.Phase) { sink?.entered(phase) }
    func entered(_ phase: HTTP.Phase, on connection: HTTP.Connection, isReused: Bool) {
        sink?.entered(phase, on: connection, isReused: isReused)
    }
    func informational(_ response: HTTP.Response) { sink?.informational(response) }
    func body(_ chunk: Data) -> Bool { sink?.body(chunk) ?? true }
    func withheld(_ count: Int64) { sink?.withheld(count) }
    func sent(_ total: Int64) { sink?.sent(total) }
    func mismatched(_ report: ServerTrustReport) { sink?.mismatched(report) }

    func head(_ response: HTTP.Response) {
        let sink = state.withLock { state in
            state.hasHead = true
            return state.sink
        }
        sink?.head(response)
    }

    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        let metrics = completed(metrics)
        places.answered(hop.origin)
        end().sink?.finished(trailers: trailers, metrics: metrics)
    }

    func finished(_ response: consuming HTTP.Response, body: Data, trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        let metrics = completed(metrics)
        places.answered(hop.origin)
        end().sink?.finished(consume response, body: body, trailers: trailers, metrics: metrics)
    }

    func failed(_ failure: HTTPTransferFailure<Failure>, metrics: HTTP.Metrics) {
        if mayRepeat(after: failure, metrics), hop.source?.rewind() ?? true {
            state.withLock { state in
                state.lost = failure
                state.resends += metrics.resends ?? 0
            }
            return carry()
        }
        let metrics = completed(metrics)
        // If the repeat was never sent, the failure of the first request is reported, because that may have been processed.
        let lost = failure.fetchError.isRetryable ? state.withLock { $0.lost } : nil
        end().sink?.failed(lost ?? failure, metrics: metrics)
    }

    /// Whether an idempotent request was lost with a connection that may have been kept.
    private func mayRepeat(after failure: HTTPTransferFailure<Failure>, _ metrics: HTTP.Metrics) -> Bool {
        guard case .transport(let error as any HTTPTransportError) = failure, hop.request.method.isIdempotent,
            [.empty, .receive, .send].contains(error.kind), metrics.isConnectionReused != false,
            places.mayKeepConnection(to: hop.origin)
        else { return false }
        return state.withLock { $0.sink != nil && !$0.hasHead && $0.sends < Self.mostSends }
    }

    private func completed(_ metrics: HTTP.Metrics) -> HTTP.Metrics {
        var metrics = metrics
        state.withLock { state in
            metrics.queue = state.queueTime
            metrics.resends = state.sends - 1 + state.resends + (metrics.resends ?? 0)
        }
        return metrics
    }
}
