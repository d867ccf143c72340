internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The handling of a challenge.
///
/// The handler may have to fetch on the same stack. So the transfer frees its place, and queues again before the request is
/// repeated.
extension HopTransfer {
    func challenged(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let decline: @Sendable () -> Void = { [self] in
            state.withLock { $0.answer.challengeIsDeclined() }
            session.interrupting.async { completionHandler(.cancelAuthenticationChallenge, nil) }
        }
        guard let handler = session.table.challengeHandler, state.withLock({ $0.sink }) != nil else { return decline() }
        if state.withLock({ exchange(&$0.hasPlace, with: false) }) { session.places.leave(hop.origin) }
        let wasAnswered = Lock(false)
        handler.handle(challenge) { [self] disposition, credential in
            guard !wasAnswered.withLock({ exchange(&$0, with: true) }) else { return }
            guard disposition == .useCredential, let credential else { return decline() }
            session.steering.async {
                self.queueAgain { [self] in
                    let (sink, content) = state.withLock { ($0.sink, $0.content) }
                    sink?.entered(content.isNone ? .waiting : .sending)
                    session.interrupting.async { [self] in
                        let goesOn = state.withLock { state in
                            state.backlog.add(state.answer.challengeIsAnswered())
                            return state.cancelling == nil
                        }
                        if goesOn { completionHandler(.useCredential, credential) }
                    }
                }
            }
        }
    }

    /// Queues again, on the steering queue.
    ///
    /// - Parameter goOn: Called once there is a place, unless the task has ended by then.
    private func queueAgain(_ goOn: @escaping @Sendable () -> Void) {
        let ticket = session.places.enter(hop.origin) { self.session.steering.async { self.startTask() } }
        let sink = state.withLock { state -> (any HTTPTransferSink<URLError>)? in
            guard case .carried = state.stage else { return nil }
            if let ticket { state.answering = (ticket, goOn) } else { state.hasPlace = true }
            return state.sink
        }
        guard let sink else { return withdraw(ticket) }
        guard let ticket else { return goOn() }
        sink.entered(.queued)
        waits(ticket)
    }
}

extension HopTransfer.State {
    /// Marks the place as taken.
    ///
    /// - Returns: The closure that continues the task, if there is one.
    mutating func takesPlace() -> (@Sendable () -> Void)? {
        guard case .carried = stage, let answering else { return nil }
        (hasPlace, self.answering) = (true, nil)
        return answering.goOn
    }
}
