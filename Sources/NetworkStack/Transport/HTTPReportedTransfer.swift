public import FoundationEssentials

/// One hop, between the callbacks of an HTTP library and the sink.
///
/// It does what every transport has to do: it reports one end, and no event after a cancel; checks and limits the response's head;
/// decodes content codings; applies back-pressure; reads the request's body; and fills the metrics.
///
/// A transport makes one in ``HTTPTransport/start(_:sink:)`` and returns it, after it has begun the transfer with its library and
/// set ``onStop(_:)``. The library's callbacks have to come one at a time. ``failed(_:)`` may come from any thread at any time.
public final class HTTPReportedTransfer<Failure: Error>: HTTPTransfer {
    struct State {
        /// `nil` after the end.
        var sink: (any HTTPTransferSink<Failure>)?
        var metrics = HTTP.Metrics()
        var phase: HTTP.Phase?
        var head: HTTP.Response?
        /// The body's coding that cannot be decoded: its first byte fails the hop.
        var unknownCoding: String?
        /// The length of the body as it was sent, if it is decoded and the head announces one.
        var encodedLength: Int64?
        var pump: BodyPump?
        /// Called with an error if the body is no longer wanted.
        var onBodyEnd: (@Sendable ((any Error)?) -> Void)?
        /// Called when the reader has room.
        var onRoom: (@Sendable () -> Void)?
        /// Ends the library's work.
        var onStop: (@Sendable () -> Void)?
        var isStopped = false
    }

    /// The hop.
    public let hop: HTTPHop
    /// The request's body, or `nil` if it is empty.
    public let body: (any HTTPBodySource)?
    let codings: Set<String>
    let malformed: @Sendable (String) -> Failure
    let started = ContinuousClock.now
    let state: Lock<State>

    /// Makes the transfer of a hop that starts now.
    ///
    /// - Parameters:
    ///   - hop: The hop.
    ///   - sink: Receives the events. It is released at the end.
    ///   - codings: The content codings that the library decodes, in lower case. A body in several is not decoded.
    ///   - malformed: Makes the transport's error for a head that violates HTTP, from a sentence.
    public init(
        _ hop: HTTPHop,
        to sink: any HTTPTransferSink<Failure>,
        decoding codings: Set<String>,
        malformed: @escaping @Sendable (String) -> Failure
    ) {
        self.hop = hop
        self.codings = codings
        self.malformed = malformed
        body = hop.openBody().flatMap { $0.length == 0 ? nil : $0 }
        state = Lock(State(sink: sink))
    }

    /// Whether the final head was received.
    public var hasHead: Bool { state.withLock { $0.head != nil } }

    /// Whether the response has a body: not for HEAD, 204 and 304, whatever the head announces (RFC 9112 section 6.3), and not
    /// if it announces no byte.
    public var expectsBody: Bool {
        guard let head = state.withLock({ $0.head }) else { return false }
        return hasBody(head) && head.headers.announcedLength != 0
    }

    func hasBody(_ head: HTTP.Response) -> Bool {
        !hop.asksForHeadOnly && !head.status.neverHasBody
    }

    /// The phase that was entered last.
    public var phase: HTTP.Phase? { state.withLock { $0.phase } }

    private var sink: (any HTTPTransferSink<Failure>)? { state.withLock { $0.sink } }

    // MARK: Control

    /// Sets what ends the library's work on the hop.
    ///
    /// - Parameter stop: Called once if the hop is cancelled, or if it is refused because of its response; at once if that has
    ///   happened already.
    public func onStop(_ stop: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state in
            state.onStop = state.sink == nil ? nil : stop
            return state.isStopped
        }
        if isStopped { stop() }
    }

    /// Cancels the hop: there are no more events.
    public func cancel() { end(.stopped).onStop?() }

    /// Resumes sending after the request's body had no bytes.
    public func resumeSending() { state.withLock { $0.pump }?.resume() }

    /// Resumes receiving after the reader had no room.
    public func resumeReceiving() { state.withLock { $0.onRoom.take() }?() }

    // MARK: The request

    /// The hop has entered a phase (``HTTPTransferSink/entered(_:)``). It is ignored after the final head.
    ///
    /// - Parameter phase: The phase.
    public func entered(_ phase: HTTP.Phase) {
        let sink = state.withLock { state in
            state.phase = phase
            return state.head == nil ? state.sink : nil
        }
        sink?.entered(phase)
    }

    /// Sends the request's body in chunks, one after the other. An error of the body fails the hop.
    ///
    /// - Parameters:
    ///   - pieceSize: The most bytes of a chunk; at least 1.
    ///   - write: Writes a chunk, and calls the closure that it gets when that is done, at once or later, on any thread.
    ///   - end: Called once: with `nil` after the last chunk, with an error if the body failed or is no longer wanted.
    public func sendBody(
        pieceSize: Int = 64 * 1024,
        write: @escaping @Sendable (Data, _ written: @escaping @Sendable () -> Void) -> Void,
        end: @escaping @Sendable ((any Error)?) -> Void
    ) {
        guard let body else { return end(nil) }
        let pump = BodyPump(body, pieceSize: pieceSize, write: write) { [weak self] error in
            let end = self?.state.withLock { $0.onBodyEnd.take() }
            if let error { self?.failed(.requestBody(error)) }
            end?(error)
        }
        let isWanted = state.withLock { state in
            guard state.sink != nil else { return false }
            (state.pump, state.onBodyEnd) = (pump, end)
            return true
        }
        if isWanted { pump.resume() } else { end(CancellationError()) }
    }

    /// A part of the request's body was sent.
    ///
    /// - Parameter count: The bytes of this part.
    public func sent(_ count: Int) {
        let (sink, total) = state.withLock { state in
            state.metrics.bytesSent += Int64(count)
            return (state.sink, state.metrics.bytesSent)
        }
        sink?.sent(total)
    }

    // MARK: The response

    /// A head was received. An informational one, except 101, is passed on as such.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - version: The version of HTTP.
    ///   - fields: The fields as received.
    public func head(_ status: HTTP.StatusCode, _ version: HTTP.Version, _ fields: [HTTP.Headers.Field]) {
        let headers = HTTP.Headers(received: fields)
        let response = HTTP.Response(status: status, version: version, headers: headers, url: hop.request.url)
        if status.statusClass == .informational, status != .switchingProtocols {
            sink?.informational(response)
        } else if let failure = accept(response, fields) {
            refuse(failure)
        } else if let (sink, head) = state.withLock({ state in state.head.map { (state.sink, $0) } }) {
            sink?.head(head)
        }
    }

    /// A part of the body was received, decoded if the library does that.
    ///
    /// - Parameters:
    ///   - chunk: The bytes.
    ///   - resume: Called once, when there is room for more; at once if there is, and at the end of the hop.
    public func body(_ chunk: Data, resume: @escaping @Sendable () -> Void) {
        if let (coding, head) = undecodable { refuse(.unknownCoding(coding, head)) }
        let sink = state.withLock { state in
            state.metrics.bytesReceived += Int64(chunk.count)
            state.onRoom = state.sink == nil ? nil : resume
            return state.sink
        }
        guard let sink else { return resume() }
        if sink.body(chunk) { resumeReceiving() }
    }

    /// The response is complete.
    ///
    /// - Parameter trailers: The fields that followed the body, if any.
    public func finished(trailers: HTTP.Headers? = nil) {
        let last = end(.whole)
        last.sink?.finished(trailers: trailers, metrics: last.metrics)
    }

    /// The hop has failed. It is ignored after the end. An error of the kind ``HTTP/FailureKind/decoding`` in a body that has an
    /// unknown coding is reported as ``HTTPTransferFailure/unknownCoding(_:_:)``.
    ///
    /// - Parameter failure: The failure. If the request's body is being read at this moment, it is reported after that.
    public func failed(_ failure: HTTPTransferFailure<Failure>) { report(failure, of: end(.failed)) }

    private func report(_ failure: HTTPTransferFailure<Failure>, of last: State) {
        guard let sink = last.sink else { return }
        let failure = cause(of: failure)
        guard let pump = last.pump else { return sink.failed(failure, metrics: last.metrics) }
        // A repeat reads the same source: this transfer must not take a chunk of it any more.
        pump.stop { sink.failed(failure, metrics: last.metrics) }
    }

    private func cause(of failure: HTTPTransferFailure<Failure>) -> HTTPTransferFailure<Failure> {
        guard case .transport(let error as any HTTPTransportError) = failure, error.kind == .decoding,
            let (coding, head) = undecodable
        else { return failure }
        return .unknownCoding(coding, head)
    }

    /// The coding that cannot be decoded, and the response that has it.
    private var undecodable: (String, HTTP.Response)? {
        state.withLock { state in state.unknownCoding.flatMap { coding in state.head.map { (coding, $0) } } }
    }

    private func refuse(_ failure: HTTPTransferFailure<Failure>) {
        let last = end(.stopped)
        report(failure, of: last)
        last.onStop?()
    }

    private enum End { case whole, failed, stopped }

    /// Ends the hop, and everything that waits for it.
    ///
    /// - Parameter end: How it ends, unless it has ended.
    /// - Returns: The state before. If the hop is stopped, the caller calls `onStop`.
    private func end(_ end: End) -> State {
        let last = state.withLock { state in
            if state.head?.decodedFrom.isEmpty == false { state.metrics.decodedBytes = state.metrics.bytesReceived }
            if end == .whole, let length = state.encodedLength { state.metrics.bytesReceived = length }
            if end == .stopped, state.sink != nil { state.isStopped = true }
            let last = state
            (state.sink, state.pump, state.onBodyEnd, state.onRoom, state.onStop) = (nil, nil, nil, nil, nil)
            return last
        }
        last.pump?.stop()
        last.onBodyEnd?(CancellationError())
        last.onRoom?()
        return last
    }
}
