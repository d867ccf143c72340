/// An authenticator that is written with async/await: it implements ``authenticate(_:)`` and
/// `evaluateFailedRequest(_:data:response:error:retryState:)`, and the form with a handler comes of itself.
public protocol AsyncRequestAuthenticator<Request, Response>: RequestAuthenticator {
    /// Authenticates a request. It runs in a task that a cancel of the fetch cancels.
    ///
    /// - Parameter request: The request.
    /// - Returns: The authenticated request.
    /// - Throws: Why there is none; the fetch then ends with `noRequest`.
    func authenticate(_ request: Request) async throws -> Request
}

extension AsyncRequestAuthenticator {
    /// Runs the asynchronous form in a task and hands over what comes of it.
    @discardableResult
    public func authenticateRequest(
        _ request: Request,
        handler: @escaping AuthenticationHandler
    ) -> any Cancelable { TaskCancelable.run({ try await authenticate(request) }, then: handler) }
}

extension RequestAuthenticator {
    /// Authenticates a request and waits for it. Cancelling the task cancels what is under way.
    ///
    /// - Parameter request: The request.
    /// - Returns: The authenticated request.
    /// - Throws: Why there is none, or `CancellationError`.
    public func authenticateRequest(_ request: Request) async throws -> Request {
        try await Handover.value { authenticateRequest(request, handler: $0) }
    }
}
