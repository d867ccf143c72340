internal import Dispatch
internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One hop: reads its body if that is a stream, queues for a place, runs as a task, ends.
///
/// Until there is a task, everything runs on the session's steering queue; then on its delegate queue. So the sink gets one event
/// at a time. A task that waits for a credential has no other events, and is steered on the steering queue again. Cancels and answers
/// to challenges run on a third queue, because they may block for long.
final class HopTransfer: HTTPTransfer, TaskReceiver {
    enum Stage {
        case reading
        case queued(ticket: UInt64)
        case placed
        case carried(URLSessionTask)
        case completed
        case ended
    }

    struct State {
        var stage = Stage.reading
        var sink: (any HTTPTransferSink<URLError>)?
        var content: SentContent
        var spool: Spool?
        var answer: Answer
        var clock = TransferClock()
        var backlog = Backlog()
        var bytesSent: Int64 = 0
        var progress = SentProgress()
        /// Whether any part of the body was sent, on any connection.
        var hasSent = false
        /// Why the body could not be sent as announced; the task fails with it.
        var contentFailure: (any Error)?
        /// Whether the task has one of the session's places. A task that waits for a credential has none.
        var hasPlace = false
        /// What continues the task once it has a place again.
        var answering: (ticket: UInt64, goOn: @Sendable () -> Void)?
        /// Left when URLSession has been asked to cancel the task.
        var cancelling: DispatchGroup?
    }

    let hop: HTTPHop
    let session: TransferSession
    let state: Lock<State>

    init(_ hop: HTTPHop, sink: any HTTPTransferSink<URLError>, session: TransferSession) {
        self.hop = hop
        self.session = session
        let holds = Answer.Holds(
            challenges: session.table.challengeHandler != nil,
            tunnels: session.tunnels.mayLead(to: hop.origin)
        )
        state = Lock(State(sink: sink, content: SentContent(hop), answer: Answer(hop, holds: holds)))
    }

    // MARK: Before there is a task

    /// Begins, on the steering queue.
    func begin() {
        if session.table.isShutDown { return fail(.shutDown) }
        if state.withLock({ $0.sink == nil }) { return }
        guard case .stream = hop.request.body, hop.source != nil else { return queue() }
        state.withLock { $0.spool = Spool() }
        read()
    }

    /// Reads a stream to its end, a few chunks at a time.
    private func read() {
        guard let spool = state.withLock({ $0.spool }), let source = hop.source else { return }
        for _ in 0..<16 {
            guard let sink = state.withLock({ $0.sink }) else { return }
            do {
                switch source.next(upTo: Spool.pieceSize) {
                case .bytes(let data): try spool.append(data)
                case .pending: return sink.entered(.sending)
                case .failed(let error): throw error
                case .end:
                    let content = try spool.finish()
                    state.withLock { ($0.content, $0.spool) = (content, nil) }
                    return queue()
                }
            } catch {
                return fail(.requestBody(error))
            }
            sink.entered(.sending)
        }
        session.steering.async { self.read() }
    }

    private func queue() {
        guard let sink = state.withLock({ $0.sink }) else { return }
        sink.entered(.queued)
        let ticket = session.places.enter(hop.origin) { self.session.steering.async { self.startTask() } }
        let (goesOn, isLate) = state.withLock { state in
            state.clock.queued = .now
            if case .ended = state.stage { return (false, true) }
            state.stage = ticket.map { .queued(ticket: $0) } ?? .placed
            return (ticket == nil, false)
        }
        if isLate { return withdraw(ticket) }
        if goesOn { return startTask() }
        if let ticket { waits(ticket) }
    }

    /// Queues for as long as the queue timeout allows.
    func waits(_ ticket: UInt64) {
        guard let limit = hop.options.timeouts.queue else { return }
        session.steering.asyncAfter(deadline: .now() + limit.dispatchInterval) { [weak self] in
            self?.queueTimedOut(ticket)
        }
    }

    private func queueTimedOut(_ ticket: UInt64) {
        guard session.places.withdraw(ticket, from: hop.origin) else { return }
        state.withLock { state in
            if case .queued = state.stage { state.stage = .reading }
            state.answering = nil
        }
        fail(.timedOut(.queue, during: .queued))
    }

    func withdraw(_ ticket: UInt64?) {
        guard let ticket else { return session.places.leave(hop.origin) }
        // A transfer that has its place already is started, and then frees it.
        _ = session.places.withdraw(ticket, from: hop.origin)
    }

    /// The transfer has a place: makes and starts the task, or continues it. Runs on the steering queue.
    func startTask() {
        if let goOn = state.withLock({ $0.takesPlace() }) { return goOn() }
        let content = state.withLock { state -> SentContent? in
            switch state.stage {
            case .carried, .completed, .ended: return nil
            case .reading, .queued, .placed: state.stage = .placed
            }
            return state.content
        }
        guard let content else { return session.places.leave(hop.origin) }
        let urlSession: URLSession
        do { urlSession = try session.carrier() } catch {
            session.places.leave(hop.origin)
            return fail(error)
        }
        do { try Platform.checkCookies(of: urlSession, for: hop) } catch {
            session.places.leave(hop.origin)
            return fail(.init(error))
        }
        let request = WireRequest(hop, content: content, ownFields: session.ownFields).urlRequest
        let task =
            content.isNone ? urlSession.dataTask(with: request) : urlSession.uploadTask(withStreamedRequest: request)
        session.table.insert(self, for: task)
        let sink = state.withLock { state -> (any HTTPTransferSink<URLError>)? in
            if case .ended = state.stage { return nil }
            state.stage = .carried(task)
            state.hasPlace = true
            state.clock.started = .now
            return state.sink
        }
        guard let sink else {
            // Cancelled meanwhile: no other code knows the task, and it was never started.
            _ = session.table.remove(task)
            task.cancel()
            return session.places.leave(hop.origin)
        }
        sink.entered(content.isNone ? .waiting : .sending)
        task.resume()
    }

    // MARK: Steering

    func cancel() { _ = end() }

    func resumeSending() {
        session.steering.async { self.read() }
    }

    func resumeReceiving() {
        session.betweenEvents {
            self.state.withLock { $0.backlog.resume() }
            self.deliver()
        }
    }

    /// Ends the transfer with a failure that was detected here.
    func fail(_ failure: HTTPTransferFailure<URLError>) {
        session.steering.async { [self] in
            let isCarried = state.withLock { if case .carried = $0.stage { true } else { false } }
            guard isCarried else { return report(failure) }
            session.betweenEvents { self.report(failure) }
        }
    }

    func report(_ failure: HTTPTransferFailure<URLError>) {
        let metrics = state.withLock { $0.metrics }
        end()?.failed(failure, metrics: metrics)
    }

    /// Ends the transfer in any state.
    ///
    /// - Returns: The sink, if its end was not reported yet.
    func end() -> (any HTTPTransferSink<URLError>)? {
        let (stage, sink, cancelling, ticket) = state.withLock { state in
            defer {
                state.stage = .ended
                state.sink = nil
                state.answering = nil
                state.spool = nil
                state.backlog = Backlog()
            }
            if case .carried = state.stage {
                state.cancelling = DispatchGroup()
                state.cancelling?.enter()
            }
            return (state.stage, state.sink, state.cancelling, state.answering?.ticket)
        }
        switch stage {
        case .ended: return nil
        case .queued(let ticket): withdraw(ticket)
        case .carried(let task):
            if let ticket { withdraw(ticket) }
            session.interrupting.async {
                task.cancel()
                cancelling?.leave()
            }
        case .reading, .placed, .completed: break
        }
        return sink
    }
}

extension HopTransfer.State {
    /// The metrics of the transfer so far.
    var metrics: HTTP.Metrics {
        var metrics = clock.metrics
        metrics.bytesSent = bytesSent
        metrics.bytesReceived = answer.bytesReceived
        if answer.isDecoded { metrics.decodedBytes = answer.received }
        metrics.headBytesReceived = answer.headBytesReceived
        return metrics
    }
}
