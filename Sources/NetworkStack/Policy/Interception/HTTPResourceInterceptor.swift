public import FoundationEssentials

/// Observes, and can change, the fetches of a resource or of a whole stack.
///
/// This is the form with a function for each event. To change a request or a response, ``HTTPInterceptor`` needs one function.
///
/// The events of an attempt are: the request is made, and each interceptor may change it, the stack's before the resource's; the
/// attempt is scheduled; it succeeds or fails, exactly once. A redirect is not a separate attempt.
///
/// Every function has a default that changes nothing. The calls of one fetch are made one after the other, on the engine's queue,
/// never on a thread that the transport needs. There are three exceptions. A first attempt's request is made within `fetch`:
/// ``interceptMakeRequestResult(_:handler:)`` and ``interceptScheduledTask(withIdentifier:request:retryState:)`` are called on
/// the caller's thread, and should return soon. If a handler is called later, the next interceptor runs on the thread that called
/// it. And if an attempt is cut short (by a cancel, the total timeout, a shutdown), its end is reported at once, even if another
/// call of the fetch has not returned.
///
/// An interceptor of `HTTP.Request` and `HTTP.Response` runs on every stack; see ``adapted()``. It has to name these two types:
///
///     struct Tag: HTTPResourceInterceptor {
///         typealias Request = HTTP.Request
///         typealias Response = HTTP.Response
///         func interceptMakeRequestResult(
///             _ result: Result<HTTP.Request, any Error>,
///             handler: @escaping RequestHandler
///         ) -> any Cancelable {
///             handler(result.map { request in
///                 var request = request
///                 request.headers["X-Tag"] = UUID().uuidString
///                 return request
///             })
///         }
///     }
public protocol HTTPResourceInterceptor<Request, Response>: Sendable {
    /// The request of the stack.
    associatedtype Request: HTTPRequestConvertible
    /// The response of the stack.
    associatedtype Response: HTTPResponseConvertible

    /// Takes the request, or an error. Only the first call counts. The returned value cancels what follows.
    typealias RequestHandler = @Sendable (Result<Request, any Error>) -> any Cancelable

    /// Takes the body of a success, or an error. Only the first call counts. The returned value cancels what follows.
    typealias BodyHandler = @Sendable (Result<Data, any Error>) -> any Cancelable

    /// Whether it is an ``HTTPInterceptor``, whose function is called; `false` by default. It must not change.
    var interceptsAttempts: Bool { get }

    /// Whether ``interceptMakeRequestResult(_:handler:)`` is called; `true` by default. If it is `false` for all interceptors of
    /// a fetch, the fetch is cheaper. It must not change.
    var interceptsRequests: Bool { get }

    /// May change a request, turn it into a failure, or turn a failure into a request.
    ///
    /// - Parameters:
    ///   - result: The result of the interceptor before this one, or the base request.
    ///   - handler: Call it once, at once or later, with the result.
    /// - Returns: Cancels the operation. If the handler is called at once, return the handler's result.
    @discardableResult
    func interceptMakeRequestResult(
        _ result: Result<Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable

    /// An attempt is about to start.
    ///
    /// - Parameters:
    ///   - identifier: The attempt's identifier, unique in the stack.
    ///   - request: The request that is sent, without what is added later: the stack's header fields, cookies and credentials, and
    ///     the fields that frame the body.
    ///   - retryState: The state of the fetch so far.
    func interceptScheduledTask(withIdentifier identifier: Int, request: Request, retryState: Retry.State)

    /// Whether ``interceptBody(_:response:request:handler:)`` is called; `true` by default. If it is `false` for all
    /// interceptors of a fetch, the fetch is cheaper. It must not change.
    var interceptsBody: Bool { get }

    /// May change the body of a success, or turn the success into a failure, which is reported as
    /// ``HTTPFetchError/interceptor(_:_:)``. It is not called for streams and downloads.
    ///
    /// - Parameters:
    ///   - data: The result of the interceptor before this one, or the body.
    ///   - response: The response.
    ///   - request: The request that was answered.
    ///   - handler: Call it once, at once or later, with the result.
    /// - Returns: Cancels the operation. If the handler is called at once, return the handler's result.
    @discardableResult
    func interceptBody(
        _ data: Data,
        response: Response,
        request: Request,
        handler: @escaping BodyHandler
    ) -> any Cancelable

    /// An attempt has succeeded.
    ///
    /// - Parameters:
    ///   - identifier: The attempt's identifier.
    ///   - request: The request that was answered.
    ///   - data: The body; empty if it is streamed.
    ///   - response: The response.
    ///   - retryState: The state of the fetch before.
    func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: Request,
        data: Data,
        response: Response,
        retryState: Retry.State
    )

    /// An attempt has failed; votes for an action. Every interceptor votes, and the resource's `retryActionPriority` combines the
    /// votes. A vote to retry declares that sending the request again is safe.
    ///
    /// The vote does not count after a cancel, an exceeded total timeout, a shutdown or a failure of trust, nor for a request or
    /// options that are invalid (``HTTPError/isFinal``). If a one-shot body would be sent again, the next attempt fails with
    /// ``HTTPFetchError/bodyNotReplayable(_:)``, and the vote on that does not count.
    ///
    /// - Parameters:
    ///   - identifier: The attempt's identifier.
    ///   - request: The request, or `nil` if the attempt ended before it was scheduled: the request could not be made or is invalid,
    ///     its server is not trusted, or time ran out.
    ///   - data: The body of the response that failed, if there was one; unchanged if an interceptor refused it.
    ///   - response: The response that failed, if there was one; that of a success if an interceptor refused its body.
    ///   - error: The failure: the stack's `FetchError`.
    ///   - retryState: The state of the fetch before this failure.
    /// - Returns: The vote.
    func interceptFailedTask(
        withIdentifier identifier: Int,
        request: Request?,
        data: Data?,
        response: Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action
}

extension HTTPResourceInterceptor {
    /// `false`.
    public var interceptsAttempts: Bool { false }

    /// `true`.
    public var interceptsRequests: Bool { true }

    /// Passes the result on.
    @discardableResult
    public func interceptMakeRequestResult(
        _ result: Result<Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable { handler(result) }

    /// `true`.
    public var interceptsBody: Bool { true }

    /// Does nothing.
    public func interceptScheduledTask(withIdentifier identifier: Int, request: Request, retryState: Retry.State) {}

    /// Passes the body on.
    @discardableResult
    public func interceptBody(
        _ data: Data,
        response: Response,
        request: Request,
        handler: @escaping BodyHandler
    ) -> any Cancelable { handler(.success(data)) }

    /// Does nothing.
    public func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: Request,
        data: Data,
        response: Response,
        retryState: Retry.State
    ) {}

    /// Returns `.none`.
    public func interceptFailedTask(
        withIdentifier identifier: Int,
        request: Request?,
        data: Data?,
        response: Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action { .none }
}
