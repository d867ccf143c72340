/// An authenticator with async/await. It implements ``authenticate(_:)`` and
/// `evaluateFailedRequest(_:data:response:error:retryState:)`; the form with a handler is provided.
public protocol AsyncRequestAuthenticator<Request, Response>: RequestAuthenticator {
    /// Authenticates a request. It runs in a task that is cancelled with the fetch.
    ///
    /// - Parameter request: The request.
    /// - Returns: The authenticated request.
    /// - Throws: Any error; the fetch then ends with `noRequest`.
    func authenticate(_ request: Request) async throws -> Request
}

extension AsyncRequestAuthenticator {
    /// Runs the asynchronous form in a task and passes its result to the handler.
    @discardableResult
    public func authenticateRequest(
        _ request: Request,
        handler: @escaping AuthenticationHandler
    ) -> any Cancelable { TaskCancelable.run({ try await authenticate(request) }, then: handler) }
}

extension RequestAuthenticator {
    /// Authenticates a request and waits for the result. Cancelling the task cancels the authentication.
    ///
    /// - Parameter request: The request.
    /// - Returns: The authenticated request.
    /// - Throws: The authenticator's error, or `CancellationError`.
    public func authenticateRequest(_ request: Request) async throws -> Request {
        try await OneShot.value { authenticateRequest(request, handler: $0) }
    }
}
