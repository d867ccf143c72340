internal import FoundationEssentials

extension HTTPResourceInterceptor<HTTP.Request, HTTP.Response> {
    /// Returns the interceptor for any stack. It stays one object with one state, such as one running refresh.
    ///
    /// - Returns: The interceptor itself if the stack's types are the neutral ones, otherwise an adapter that holds it.
    public func adapted<R: HTTPRequestConvertible, S: HTTPResponseConvertible>() -> any HTTPResourceInterceptor<R, S> {
        self as? any HTTPResourceInterceptor<R, S> ?? AdaptedInterceptor<R, S>(base: self)
    }
}

/// Runs a neutral interceptor on a stack with other types.
struct AdaptedInterceptor<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>: HTTPResourceInterceptor {
    let base: any HTTPResourceInterceptor<HTTP.Request, HTTP.Response>

    var interceptsAttempts: Bool { base.interceptsAttempts }

    var interceptsRequests: Bool { base.interceptsRequests }

    func interceptMakeRequestResult(
        _ result: Result<Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable {
        base.interceptMakeRequestResult(result.flatMap { request in Result { try request.httpRequest() } }) { made in
            handler(made.flatMap { request in Result { try Request(request) } })
        }
    }

    func interceptScheduledTask(withIdentifier identifier: Int, request: Request, retryState: Retry.State) {
        guard let neutral = try? request.httpRequest() else { return }
        base.interceptScheduledTask(withIdentifier: identifier, request: neutral, retryState: retryState)
    }

    var interceptsBody: Bool { base.interceptsBody }

    func interceptBody(
        _ data: Data,
        response: Response,
        request: Request,
        handler: @escaping BodyHandler
    ) -> any Cancelable {
        guard let neutral = response.httpResponse, let sent = try? request.httpRequest() else {
            return handler(.success(data))
        }
        return base.interceptBody(data, response: neutral, request: sent, handler: handler)
    }

    func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: Request,
        data: Data,
        response: Response,
        retryState: Retry.State
    ) {
        guard let neutral = response.httpResponse, let sent = try? request.httpRequest() else { return }
        base.interceptSuccessfulTask(
            withIdentifier: identifier,
            request: sent,
            data: data,
            response: neutral,
            retryState: retryState
        )
    }

    func interceptFailedTask(
        withIdentifier identifier: Int,
        request: Request?,
        data: Data?,
        response: Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        base.interceptFailedTask(
            withIdentifier: identifier,
            request: request.flatMap { try? $0.httpRequest() },
            data: data,
            response: response?.httpResponse,
            error: error,
            retryState: retryState
        )
    }
}
