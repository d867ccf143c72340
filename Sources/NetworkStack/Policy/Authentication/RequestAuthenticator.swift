public import FoundationEssentials

/// Authenticates requests, and judges failures that may come from missing or stale authentication.
///
/// It is an interceptor: put it among the interceptors of a resource or a stack. It may fetch on the very stack whose
/// request it authenticates.
public protocol RequestAuthenticator<Request, Response>: HTTPResourceInterceptor {
    /// Takes the authenticated request on, or why there is none. Only the first call counts; what it returns cancels what
    /// follows.
    typealias AuthenticationHandler = @Sendable (Result<Request, any Error>) -> any Cancelable

    /// Authenticates a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - handler: To be called once, at once or later, with the authenticated request.
    /// - Returns: Cancels what is under way; with a handler that is called at once, what that returned.
    @discardableResult
    func authenticateRequest(_ request: Request, handler: @escaping AuthenticationHandler) -> any Cancelable

    /// Judges a failure, and votes on what to do.
    ///
    /// - Parameters:
    ///   - request: The request that failed, authenticated.
    ///   - data: The content that came with the failure, if any did.
    ///   - response: The response that came with the failure, if one did.
    ///   - error: The failure: the stack's `FetchError`.
    ///   - retryState: What the fetch has been through before this failure.
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
    /// Authenticates a request that was made; a failure passes by.
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

    /// Votes as ``evaluateFailedRequest(_:data:response:error:retryState:)`` does; votes for nothing if no request was made.
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
