internal import FoundationEssentials
internal import NIOConcurrencyHelpers
internal import NetworkStack

/// One hop, sent again if the server did not process it. AsyncHTTPClient fails such a request. A repeat is safe with every method
/// (RFC 9110 section 9.2.2).
final class RepeatedTransfer: HTTPTransfer, HTTPTransferSink {
    typealias Failure = HTTPTransferError
    /// One request to AsyncHTTPClient.
    typealias Attempt = HTTPReportedTransfer<Failure>

    private struct State {
        /// `nil` after the end.
        var sink: (any HTTPTransferSink<Failure>)?
        var attempt: Attempt?
        var repeats = 0
        var isUnprocessed = false
        var hasHead = false

        func counted(_ metrics: HTTP.Metrics) -> HTTP.Metrics {
            var metrics = metrics
            metrics.resends = repeats
            return metrics
        }
    }

    /// The most repeats. Where many requests met the end of one connection, each repeat has twice the connections of the one before
    /// (``Clients/client(for:repeats:)``).
    private static var mostRepeats: Int { 10 }

    private let hop: HTTPHop
    private let starting: @Sendable (Attempt, RepeatedTransfer) -> Void
    private let state: NIOLockedValueBox<State>

    init(
        _ hop: HTTPHop,
        to sink: any HTTPTransferSink<Failure>,
        starting: @escaping @Sendable (Attempt, RepeatedTransfer) -> Void
    ) {
        (self.hop, self.starting) = (hop, starting)
        state = NIOLockedValueBox(State(sink: sink))
    }

    func begin() {
        let attempt = Attempt(hop, to: self, decoding: ["gzip", "deflate"])
        let isWanted = state.withLockedValue { state in
            if state.sink != nil { state.attempt = attempt }
            return state.sink != nil
        }
        // One that is cancelled from here on stops AsyncHTTPClient's task as soon as it has one.
        if isWanted { starting(attempt, self) }
    }

    /// How often the request was repeated.
    var repeats: Int { state.withLockedValue { $0.repeats } }

    /// The attempt is about to fail because the server did not process the request.
    func noteUnprocessed() { state.withLockedValue { $0.isUnprocessed = true } }

    private func end() -> State {
        state.withLockedValue { state in
            defer { (state.sink, state.attempt) = (nil, nil) }
            return state
        }
    }

    // MARK: Control

    func cancel() { end().attempt?.cancel() }
    func resumeReceiving() { state.withLockedValue { $0.attempt }?.resumeReceiving() }
    func resumeSending() { state.withLockedValue { $0.attempt }?.resumeSending() }

    // MARK: Events

    private var sink: (any HTTPTransferSink<Failure>)? { state.withLockedValue { $0.sink } }

    func entered(_ phase: HTTP.Phase) { sink?.entered(phase) }
    func informational(_ response: HTTP.Response) { sink?.informational(response) }
    func body(_ chunk: Data) -> Bool { sink?.body(chunk) ?? true }
    func withheld(_ count: Int64) { sink?.withheld(count) }
    func sent(_ total: Int64) { sink?.sent(total) }

    func head(_ response: HTTP.Response) {
        state.withLockedValue { $0.hasHead = true }
        sink?.head(response)
    }

    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        let last = end()
        last.sink?.finished(trailers: trailers, metrics: last.counted(metrics))
    }

    func failed(_ failure: HTTPTransferFailure<Failure>, metrics: HTTP.Metrics) {
        if mayRepeat(), hop.source?.rewind() ?? true { return begin() }
        let last = end()
        last.sink?.failed(failure, metrics: last.counted(metrics))
    }

    private func mayRepeat() -> Bool {
        state.withLockedValue { state in
            guard state.isUnprocessed, state.sink != nil, !state.hasHead, state.repeats < Self.mostRepeats else {
                return false
            }
            state.isUnprocessed = false
            state.repeats += 1
            return true
        }
    }
}
