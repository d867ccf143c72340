extension Retry {
    /// The statuses that may pass by themselves: the server, or something before it, was busy or being replaced.
    public static let transientStatuses: Set<HTTP.StatusCode> = [
        .requestTimeout, .tooEarly, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable,
        .gatewayTimeout,
    ]

    /// Whether a request can be sent again without the risk of doing twice what was to be done once.
    ///
    /// It can if its method is idempotent (RFC 9110 section 9.2.2), if it carries an `Idempotency-Key`, or if it provably
    /// never reached the server. A body that can be sent only once is another matter; the stack itself refuses that.
    ///
    /// - Parameters:
    ///   - request: The request that failed.
    ///   - error: How it failed: the stack's `FetchError`.
    ///   - state: What the operation has been through, this attempt included. The error tells of the last hop alone.
    /// - Returns: Whether it is safe.
    public static func isSafe(_ request: HTTP.Request, after error: any Swift.Error, in state: State) -> Bool {
        if request.method.isIdempotent { return true }
        if let key = request.headers[.idempotencyKey], !key.isEmpty { return true }
        return !state.requestMayHaveArrived && (error as? any HTTPError)?.isRetryable ?? false
    }

    /// Whether a failure may pass by itself.
    ///
    /// A timeout may, and a connection that could not be opened or broke, and some statuses. A request that cannot be
    /// made, a failure of trust, a malformed response and a cancel may not.
    ///
    /// - Parameters:
    ///   - error: The failure: the stack's `FetchError`, that of a fetch that decodes, or that of a stream.
    ///   - statuses: The statuses that may pass.
    /// - Returns: Whether it may.
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
    /// Whether the failure may pass by itself (``Retry/isTransient(_:statuses:)``).
    public var isTransient: Bool { Retry.isTransient(self) }
}

extension Retry.Policy where Metadata: HTTPRetryMetadata {
    /// The same policy where sending the request again is safe (``Retry/isSafe(_:after:in:)``); elsewhere it votes for nothing.
    ///
    /// - Returns: The narrower policy.
    public func whenSafe() -> Self {
        when { error, state, metadata in
            guard let request = try? metadata.request?.httpRequest() else { return false }
            return Retry.isSafe(request, after: error, in: state)
        }
    }

    /// The same policy for failures that may pass by themselves (``Retry/isTransient(_:statuses:)``); for others it votes
    /// for nothing.
    ///
    /// - Parameter statuses: The statuses that may pass.
    /// - Returns: The narrower policy.
    public func whenTransient(_ statuses: Set<HTTP.StatusCode> = Retry.transientStatuses) -> Self {
        when { error, _, _ in Retry.isTransient(error, statuses: statuses) }
    }
}
