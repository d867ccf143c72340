public import FoundationEssentials

/// Hears, and partly decides, what happens to the fetches of a resource or of a whole stack.
///
/// For every attempt: the request is made, and each interceptor threads it in order, the stack's before the resource's;
/// the task is scheduled; it ends in exactly one of a success and a failure. A redirect is no attempt of its own.
///
/// Every function has a default that changes nothing. The calls of one fetch come one after the other, never on a thread the
/// transport needs. They are made on the engine's queue, with two exceptions. A first attempt's request is made within
/// `fetch`, on the thread that called it: ``interceptMakeRequestResult(_:handler:)`` and
/// ``interceptScheduledTask(withIdentifier:request:retryState:)`` are called there, and should return soon. And what a base
/// request or an interceptor hands on later, goes on where that was done. Only the end of an attempt that is cut short (by a
/// cancel, the total timeout, a shutdown) is told at once, though another call of the fetch may not have returned.
///
/// One written on `HTTP.Request` and `HTTP.Response` runs on every stack; see ``adapted()``. It has to name these two types:
///
///     struct Tag: HTTPResourceInterceptor {
///         typealias Request = HTTP.Request
///         typealias Response = HTTP.Response
///
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

    /// Takes the request on, or why there is none. Only the first call counts; what it returns cancels what follows.
    typealias RequestHandler = @Sendable (Result<Request, any Error>) -> any Cancelable

    /// Takes a response's content on, or why it will not do. Only the first call counts; what it returns cancels what
    /// follows.
    typealias ContentHandler = @Sendable (Result<Data, any Error>) -> any Cancelable

    /// Whether ``interceptMakeRequestResult(_:handler:)`` takes part in requests at all; `true` unless said otherwise. If no
    /// interceptor of a fetch does, its request is not passed around, which makes those that only listen cheaper. It must not
    /// change.
    var interceptsRequests: Bool { get }

    /// Takes part in the making of a request, and may turn it into another, into a failure, or a failure into a request.
    ///
    /// - Parameters:
    ///   - result: What the interceptor before this one handed on, or the base request.
    ///   - handler: To be called once, at once or later, with what is to be handed on.
    /// - Returns: Cancels what is under way; with a handler that is called at once, what that returned.
    @discardableResult
    func interceptMakeRequestResult(
        _ result: Result<Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable

    /// Hears that a task is about to be started.
    ///
    /// - Parameters:
    ///   - identifier: The attempt's, unlike that of any other attempt of the stack.
    ///   - request: The request that is sent. What the library or its backend adds to it (credentials of the stack,
    ///     framing fields) is not in it.
    ///   - retryState: What the fetch has been through so far.
    func interceptScheduledTask(withIdentifier identifier: Int, request: Request, retryState: Retry.State)

    /// Whether ``interceptContent(_:response:request:handler:)`` takes part in successes at all; `true` unless said
    /// otherwise. If no interceptor of a fetch does, its content is not passed around, which makes those that only listen
    /// cheaper. It must not change.
    var interceptsContent: Bool { get }

    /// Takes part in a success of a buffered fetch, and may turn its content into another, or into a failure, which takes
    /// the failed path as ``HTTPFetchError/interceptor(_:)``. Streams and downloads do not come here.
    ///
    /// - Parameters:
    ///   - data: What the interceptor before this one handed on, or the content.
    ///   - response: The response it came with.
    ///   - request: The request that was answered.
    ///   - handler: To be called once, at once or later, with what is to be handed on.
    /// - Returns: Cancels what is under way; with a handler that is called at once, what that returned.
    @discardableResult
    func interceptContent(
        _ data: Data,
        response: Response,
        request: Request,
        handler: @escaping ContentHandler
    ) -> any Cancelable

    /// Hears that a task has succeeded.
    ///
    /// - Parameters:
    ///   - identifier: The attempt's.
    ///   - request: The request that was answered.
    ///   - data: The content; empty if it is streamed.
    ///   - response: The response.
    ///   - retryState: What the fetch has been through before.
    func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: Request,
        data: Data,
        response: Response,
        retryState: Retry.State
    )

    /// Hears that an attempt has failed, and votes on what to do. Every interceptor votes; the resource's
    /// `retryActionPriority` folds the votes. A vote to retry says that sending the request again is safe.
    ///
    /// The vote does not count after a cancel, an expired total timeout, a shutdown or a failure of trust, nor on a request or
    /// options that cannot be sent (``HTTPError/isFinal``). A vote to send a body again that can be sent
    /// only once makes the next attempt fail with ``HTTPFetchError/bodyNotReplayable(_:)``, and the vote on that does not count.
    ///
    /// - Parameters:
    ///   - identifier: The attempt's.
    ///   - request: The request, or `nil` if the task was never scheduled: it could not be made, or was refused as it is.
    ///   - data: The content that came with the failure, if any did; as it came, if an interceptor would not take it.
    ///   - response: The response that came with the failure, if one did; that of a success, if an interceptor would not take
    ///     its content.
    ///   - error: The failure: the stack's `FetchError`.
    ///   - retryState: What the fetch has been through before this failure.
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
    /// Requests may be intercepted.
    public var interceptsRequests: Bool { true }

    /// Hands on what came.
    @discardableResult
    public func interceptMakeRequestResult(
        _ result: Result<Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable { handler(result) }

    /// Content may be intercepted.
    public var interceptsContent: Bool { true }

    /// Does nothing.
    public func interceptScheduledTask(withIdentifier identifier: Int, request: Request, retryState: Retry.State) {}

    /// Hands on what came.
    @discardableResult
    public func interceptContent(
        _ data: Data,
        response: Response,
        request: Request,
        handler: @escaping ContentHandler
    ) -> any Cancelable { handler(.success(data)) }

    /// Does nothing.
    public func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: Request,
        data: Data,
        response: Response,
        retryState: Retry.State
    ) {}

    /// Votes for nothing.
    public func interceptFailedTask(
        withIdentifier identifier: Int,
        request: Request?,
        data: Data?,
        response: Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action { .none }
}
