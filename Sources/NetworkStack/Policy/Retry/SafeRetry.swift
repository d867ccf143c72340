extension Retry {
    /// The statuses of temporary failures: the server, or a server in front of it, was overloaded or being replaced.
    public static let transientStatuses: Set<HTTP.StatusCode> = [
        .requestTimeout, .tooEarly, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable,
        .gatewayTimeout,
    ]

    /// Returns whether a request can be sent again without the risk that it is processed twice.
    ///
    /// It can if its method is idempotent (RFC 9110 section 9.2.2), if it has an `Idempotency-Key`, or if it provably never
    /// reached the server. The stack itself refuses to send a one-shot body again.
    ///
    /// - Parameters:
    ///   - request: The request that failed.
    ///   - error: The failure: the stack's `FetchError`.
    ///   - state: The state of the operation, including this attempt. The error describes the last hop only.
    /// - Returns: Whether it is safe.
    public static func isSafe(_ request: HTTP.Request, after error: any Swift.Error, in state: State) -> Bool {
        if request.method.isIdempotent { return true }
        if let key = request.headers[.idempotencyKey], !key.isEmpty { return true }
        return !state.requestMayHaveArrived && (error as? any HTTPError)?.isRetryable ?? false
    }

    /// Returns whether a failure may be temporary.
    ///
    /// These are timeouts, connections that could not be opened or broke, and some statuses. Requests that cannot be made,
    /// failures of trust, malformed responses and cancels are not temporary.
    ///
    /// - Parameters:
    ///   - error: The failure: the stack's `FetchError`, that of a fetch that decodes, or that of a stream.
    ///   - statuses: The statuses of temporary failures.
    /// - Returns: Whether it may be temporary.
    public static func isTransient(
        _ error: any Swift.Error,
        statuses: Set<HTTP.StatusCode> = transientStatuses
    ) -> Bool {
        guard let failure = error as? any HTTPError else { return false }
        if failure.isTimeout || failure.isRetryable { return true }
        if let status = failure.statusCode { return statuses.contains(status) }
        return failure.transportFailure.map { passing.contains($0) } ?? false
    }

    private static let passing: Set<HTTP.FailureKind> = [
        .dns, .connect, .send, .receive, .truncated, .empty, .proxy,
    ]
}

extension HTTPError {
    /// Whether the failure may be temporary (``Retry/isTransient(_:statuses:)``).
    public var isTransient: Bool { Retry.isTransient(self) }
}

extension Retry.Policy where Metadata: HTTPRetryMetadata {
    /// Returns the policy restricted to requests that are safe to send again (``Retry/isSafe(_:after:in:)``); otherwise it
    /// returns `.none`.
    ///
    /// - Returns: The restricted policy.
    public func whenSafe() -> Self {
        when { error, state, metadata in
            guard let request = try? metadata.request?.httpRequest() else { return false }
            return Retry.isSafe(request, after: error, in: state)
        }
    }

    /// Returns the policy restricted to temporary failures (``Retry/isTransient(_:statuses:)``); otherwise it returns `.none`.
    ///
    /// - Parameter statuses: The statuses of temporary failures.
    /// - Returns: The restricted policy.
    public func whenTransient(_ statuses: Set<HTTP.StatusCode> = Retry.transientStatuses) -> Self {
        when { error, _, _ in Retry.isTransient(error, statuses: statuses) }
    }
}
