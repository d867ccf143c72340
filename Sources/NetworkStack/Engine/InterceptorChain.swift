internal import FoundationEssentials

/// The interceptors of one fetch, in order: the stack's, then the resource's.
struct InterceptorChain<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>: Sendable {
    let interceptors: HTTPResource<Request, Response>.Interceptors
    let priority: Retry.Action.CompareClosure
    var pathAsIs = false
    var sensitiveHeaders: Set<HTTP.HeaderName> = []

    // The interceptors are called by index: a loop over them would copy each.

    var interceptsRequests: Bool { interceptors.indices.contains { interceptors[$0].interceptsRequests } }

    var interceptsBody: Bool { interceptors.indices.contains { interceptors[$0].interceptsBody } }

    /// Whether an interceptor is an ``HTTPInterceptor``.
    var interceptsAttempts: Bool { interceptors.indices.contains { interceptors[$0].interceptsAttempts } }

    /// Runs the HTTPInterceptors around an attempt, which the last `next` makes.
    func intercept(_ request: HTTP.Request, _ last: HTTP.Next) async throws -> HTTP.Reply {
        var next = last
        let functions = interceptors.lazy.filter(\.interceptsAttempts)
            .compactMap { interceptor in
                interceptor as? any HTTPInterceptor
                    ?? (interceptor as? AdaptedInterceptor<Request, Response>)?.base as? any HTTPInterceptor
            }
        for function in Array(functions).reversed() {
            let following = next
            next = HTTP.Next { request in
                let wasCalled = Lock(false)
                let once = HTTP.Next { changed in
                    guard !wasCalled.withLock({ exchange(&$0, with: true) }) else { throw HTTP.NextCalledAgain() }
                    return try await following(changed.withoutCredentials(of: request, sensitive: sensitiveHeaders))
                }
                return try await function.intercept(request, next: once)
            }
        }
        return try await next(request)
    }

    /// A request as it is sent.
    func plain(_ request: Request) throws -> Request { pathAsIs ? request : try request.withoutDotSegments() }

    private func plain(_ result: Result<Request, any Error>) -> Result<Request, any Error> {
        result.flatMap { request in Result { try plain(request) } }
    }

    /// Passes a request through the interceptors; each gets it as it would be sent. The handler is called once at most.
    func runRequestInterceptors(
        _ result: Result<Request, any Error>,
        _ handler: @escaping @Sendable (Result<Request, any Error>) -> any Cancelable
    ) -> any Cancelable {
        InterceptorPass(cancelled: .failure(MakingCancelled()), last: { handler(plain($0)) }) { index, value, next in
            index < interceptors.count
                ? interceptors[index].interceptMakeRequestResult(plain(value), handler: next) : nil
        }
        .pass(result, to: 0)
    }

    /// Passes the body of a success through the interceptors, up to the first failure. The handler is called once at most.
    func runBodyInterceptors(
        _ data: Data,
        response: Response,
        request: Request,
        _ handler: @escaping @Sendable (Result<Data, any Error>) -> any Cancelable
    ) -> any Cancelable {
        InterceptorPass<Result<Data, any Error>>(cancelled: .failure(CancellationError()), last: handler) {
            index,
            value,
            next in
            guard index < interceptors.count, case .success(let data) = value else { return nil }
            return interceptors[index].interceptBody(data, response: response, request: request, handler: next)
        }
        .pass(.success(data), to: 0)
    }

    func reportScheduled(_ attempt: Attempt, _ request: Request) {
        for index in interceptors.indices {
            interceptors[index].interceptScheduledTask(
                withIdentifier: attempt.identifier,
                request: request,
                retryState: attempt.retryState
            )
        }
    }

    func reportSuccess(_ attempt: Attempt, _ request: Request, _ data: Data, _ response: Response) {
        for index in interceptors.indices {
            interceptors[index].interceptSuccessfulTask(
                withIdentifier: attempt.identifier,
                request: request,
                data: data,
                response: response,
                retryState: attempt.retryState
            )
        }
    }

    /// Every interceptor votes.
    func vote(
        _ attempt: Attempt,
        request: Request?,
        data: Data?,
        response: Response?,
        error: any Error
    ) -> Retry.Action {
        interceptors.reduce(.none) { action, interceptor in
            priority(
                action,
                interceptor.interceptFailedTask(
                    withIdentifier: attempt.identifier,
                    request: request,
                    data: data,
                    response: response,
                    error: error,
                    retryState: attempt.retryState
                )
            )
        }
    }
}

/// The result of a making whose cancelable was cancelled, which ends the whole fetch as cancelled.
struct MakingCancelled: Error {}

/// Passes a value from one interceptor to the next, each of which may take its time. A second call of a handler is ignored.
///
/// Cancelling it cancels what is under way in any of them, also where one does not return what follows it. After the last handler was called, it
/// cancels what that returned.
private final class InterceptorPass<Value: Sendable>: Cancelable {
    typealias Handler = @Sendable (Value) -> any Cancelable

    private struct State {
        /// Which of them gets the value next.
        var turn = 0
        var underWay = CancelableMembers()
        /// Whether the last handler was called, or is about to be.
        var hasEnded = false
        /// What the last handler returned. It may hold this pass.
        weak var following: (any Cancelable)?
    }

    private let state = Lock(State())
    private let cancelled: Value
    private let last: Handler
    /// Passes a value to the one at an index. Returns `nil` if it goes to the last.
    private let step: @Sendable (_ index: Int, Value, _ next: @escaping Handler) -> (any Cancelable)?

    /// - Parameters:
    ///   - cancelled: What the last handler gets if the pass is cancelled before.
    ///   - last: The last handler. It is called once at most: with the value, or with `cancelled` if the pass is cancelled first.
    ///   - step: Passes a value to the interceptor at an index.
    init(
        cancelled: Value,
        last: @escaping Handler,
        step: @escaping @Sendable (_ index: Int, Value, _ next: @escaping Handler) -> (any Cancelable)?
    ) {
        (self.cancelled, self.last, self.step) = (cancelled, last, step)
    }

    func pass(_ value: Value, to index: Int) -> any Cancelable {
        let isFirst = state.withLock { state in
            guard state.turn == index, !state.underWay.isCancelled else { return false }
            state.turn += 1
            return true
        }
        guard isFirst else { return EmptyCancelable() }
        guard let pending = step(index, value, { self.pass($0, to: index + 1) }) else { return end(with: value) }
        if pending !== self, !state.withLock({ $0.underWay.add(pending) }) { pending.cancel() }
        return self
    }

    /// Hands the value to the last handler.
    private func end(with value: Value) -> any Cancelable {
        let isFirst = state.withLock { state in
            // The cancelables on the way hold this pass, which their handlers returned: keeping them would be a retain cycle.
            _ = state.underWay.close()
            return !exchange(&state.hasEnded, with: true)
        }
        guard isFirst else { return EmptyCancelable() }
        let following = last(value)
        let isCancelled = state.withLock { state in
            state.following = following
            return state.underWay.isCancelled
        }
        if isCancelled { following.cancel() }
        return following
    }

    func cancel() {
        let (underWay, following) = state.withLock { ($0.underWay.cancel(), $0.following) }
        for pending in underWay { pending.cancel() }
        following?.cancel()
        _ = end(with: cancelled)
    }
}
