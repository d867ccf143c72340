public import FoundationEssentials

extension Retry.Policy: HTTPResourceInterceptor where Metadata: HTTPRetryMetadata {
    /// The request of the stack.
    public typealias Request = Metadata.Request
    /// The response of the stack.
    public typealias Response = Metadata.Response

    /// `false`: it does not intercept requests.
    public var interceptsRequests: Bool { false }

    /// `false`: it does not intercept bodies.
    public var interceptsBody: Bool { false }

    /// Votes as ``shouldRetry(with:state:metadata:)`` does.
    public func interceptFailedTask(
        withIdentifier identifier: Int,
        request: Request?,
        data: Data?,
        response: Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        let metadata = Metadata(request: request, payload: data, response: response)
        return shouldRetry(with: error, state: retryState, metadata: metadata)
    }
}
