public import FoundationEssentials

/// Authenticates requests, and judges failures that missing or outdated credentials may have caused.
///
/// It is an interceptor: add it to the interceptors of a resource or a stack. It may fetch on the stack whose requests it
/// authenticates.
public protocol RequestAuthenticator<Request, Response>: HTTPResourceInterceptor {
    /// Takes the authenticated request, or an error. Only the first call counts. The returned value cancels what follows.
    typealias AuthenticationHandler = @Sendable (Result<Request, any Error>) -> any Cancelable

    /// Authenticates a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - handler: Call it once, at once or later, with the authenticated request.
    /// - Returns: Cancels the authentication. If the handler is called at once, return the handler's result.
    @discardableResult
    func authenticateRequest(_ request: Request, handler: @escaping AuthenticationHandler) -> any Cancelable

    /// Judges a failure, and votes for an action.
    ///
    /// - Parameters:
    ///   - request: The request that failed, authenticated.
    ///   - data: The body of the response that failed, if there was one.
    ///   - response: The response that failed, if there was one.
    ///   - error: The failure: the stack's `FetchError`.
    ///   - retryState: The state of the fetch before this failure.
    /// - Returns: The vote.
    func evaluateFailedRequest(
        _ request: Request,
        data: Data?,
        response: Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action
}

extension RequestAuthenticator {
    /// Authenticates the request, if it could be made; a failure is passed on.
    @discardableResult
    public func interceptMakeRequestResult(
        _ result: Result<Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable {
        switch result {
        case .success(let request): authenticateRequest(request, handler: handler)
        case .failure: handler(result)
        }
    }

    /// Votes as ``evaluateFailedRequest(_:data:response:error:retryState:)`` does; returns `.none` if no request was made.
    public func interceptFailedTask(
        withIdentifier identifier: Int,
        request: Request?,
        data: Data?,
        response: Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        guard let request else { return .none }
        return evaluateFailedRequest(request, data: data, response: response, error: error, retryState: retryState)
    }
}
