/// The HTTPInterceptors while they run around one attempt, in a task.
final class Interception: Sendable {
    private struct State {
        /// Released at the end: a `next` that an interceptor keeps holds nothing of the fetch.
        var delegate: (any FetchDelegate)?
        var hasAsked = false
        var isAbandoned = false
        var head: HTTP.Response?
        var isAnswered = false
    }

    private let task = CancelableBag()
    /// The end of their request. The waiting task makes the reply itself, so that no other thread retains a stream that an interceptor
    /// drops.
    let answer = OneShot<Result<(Ending, any FetchDelegate), any Error>>()
    private let state: Lock<State>

    init(_ delegate: any FetchDelegate) { state = Lock(State(delegate: delegate)) }

    /// Whether they have had a request sent.
    var hasAsked: Bool { state.withLock { $0.hasAsked } }

    /// Whether the task that waits for the reply was cancelled.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// Whether they got a whole response, so that the request has not failed.
    var isAnswered: Bool { state.withLock { $0.isAnswered } }

    /// The head that they got.
    var head: HTTP.Response? { state.withLock { $0.head } }

    /// Runs them.
    ///
    /// - Parameters:
    ///   - request: The attempt's request.
    ///   - carry: Has a request carried.
    ///   - abandon: Ends the request, because the task that waits for its reply was cancelled.
    ///   - handler: Takes what they come to.
    func begin(
        _ request: HTTP.Request,
        carry: @escaping @Sendable (HTTP.Request) -> Void,
        abandon: @escaping @Sendable () -> Void,
        then handler: @escaping @Sendable (Result<HTTP.Reply, any Error>) async -> Void
    ) {
        guard let delegate = state.withLock({ $0.delegate }) else { return }
        task += TaskCancelable(
            Task {
                let result = await Result { () async throws in
                    let last = HTTP.Next { request in
                        if Task.isCancelled, let error = self.error(of: .cancelled) { throw error }
                        self.state.withLock { $0.hasAsked = true }
                        carry(request)
                        let (ending, delegate) = try await withTaskCancellationHandler {
                            try await self.answer.take().get()
                        } onCancel: {
                            self.state.withLock { $0.isAbandoned = true }
                            if let error = self.error(of: .cancelled) { self.answer.fill(.failure(error)) }
                            abandon()
                        }
                        return try delegate.reply(to: ending).get()
                    }
                    return try await delegate.intercept(request, last)
                }
                await handler(result)
            }
        )
    }

    /// The stack's error of an ending, unless no request is carried any more.
    private func error(of ending: Ending) -> (any Error)? {
        state.withLock { $0.delegate }.map { $0.streamError(of: ending) }
    }

    /// Their request has come to this.
    func answer(with ending: Ending) {
        let delegate = state.withLock { state in
            switch ending {
            case .whole(let head, _, _, _): (state.head, state.isAnswered) = (head, true)
            case .opened(let head, _): state.head = head
            default: break
            }
            return state.delegate
        }
        guard let delegate else { return }
        answer.fill(.success((ending, delegate)))
        // The cancelled task does not take a stream. Dropping it here closes it.
        if isAbandoned { _ = delegate.reply(to: ending) }
    }

    /// The attempt is over, with this.
    func cancel(after ending: Ending) {
        close(after: ending)
        task.cancel()
    }

    /// No request is carried for them any more: a `next` that waits, or is called later, throws what the attempt has come to.
    func close(after ending: Ending = .cancelled) {
        guard let delegate = state.withLock({ $0.delegate.take() }) else { return }
        answer.fill(.failure(delegate.streamError(of: ending)))
    }
}
