/// The interceptors of one function while they run around one attempt, in a task.
final class Interception: Cancelable {
    private struct State {
        /// Released at the end: a `next` that a function keeps holds nothing of the fetch.
        var delegate: (any FetchDelegate)?
        var hasAsked = false
        var head: HTTP.Response?
    }

    private let task = CancelableBag()
    private let answer = OneShot<Result<HTTP.Reply, any Error>>()
    private let state: Lock<State>

    init(_ delegate: any FetchDelegate) { state = Lock(State(delegate: delegate)) }

    /// Whether they have had a request sent.
    var hasAsked: Bool { state.withLock { $0.hasAsked } }

    /// The head that they got.
    var head: HTTP.Response? { state.withLock { $0.head } }

    /// Runs them.
    ///
    /// - Parameters:
    ///   - request: The attempt's request.
    ///   - carry: Has a request carried.
    ///   - abandon: The task that waits for the reply is cancelled, while the attempt is not over.
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
                        try Task.checkCancellation()
                        self.state.withLock { $0.hasAsked = true }
                        carry(request)
                        return try await withTaskCancellationHandler {
                            try await self.answer.take().get()
                        } onCancel: {
                            abandon()
                        }
                    }
                    return try await delegate.intercept(request, last)
                }
                await handler(result)
            }
        )
    }

    /// Their request has come to this.
    func answer(with ending: Ending) {
        let delegate = state.withLock { state in
            switch ending {
            case .whole(let head, _, _, _), .opened(let head, _): state.head = head
            default: break
            }
            return state.delegate
        }
        if let delegate { answer.fill(delegate.reply(to: ending)) }
    }

    /// The attempt is over.
    func cancel() {
        task.cancel()
        close()
    }

    /// No request is carried for them any more: a `next` that is called later, or that waits, throws.
    func close() {
        guard let delegate = state.withLock({ $0.delegate.take() }) else { return }
        answer.fill(.failure(delegate.streamError(of: .cancelled)))
    }
}
