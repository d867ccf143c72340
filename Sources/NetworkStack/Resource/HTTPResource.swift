public import FoundationEssentials

/// What an HTTP stack fetches: how its request is made, what its errors mean, and how it is carried out.
///
/// It is a value: fetching it changes nothing in it, so one can be fetched many times at once.
public struct HTTPResource<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>: Sendable {
    /// Interceptors in the order they are called.
    public typealias Interceptors = [any HTTPResourceInterceptor<Request, Response>]

    /// All of it in one place, so that a resource is small to pass on.
    @usableFromInline
    final class Content: Sendable {
        @usableFromInline let baseRequestMaking: Network.BaseRequestMaking<Request>
        let errorDecoding: Network.ErrorDecoding<Data, Response>
        let interceptors: Interceptors
        @usableFromInline let isIntercepted: Bool
        let retryActionPriority: Retry.Action.CompareClosure
        @usableFromInline let options: Shared<HTTP.Options>?

        init(
            baseRequestMaking: Network.BaseRequestMaking<Request>,
            errorDecoding: Network.ErrorDecoding<Data, Response>,
            interceptors: Interceptors,
            retryActionPriority: @escaping Retry.Action.CompareClosure,
            options: HTTP.Options?
        ) {
            self.baseRequestMaking = baseRequestMaking
            self.errorDecoding = errorDecoding
            self.interceptors = interceptors
            isIntercepted = !interceptors.isEmpty
            self.retryActionPriority = retryActionPriority
            self.options = options.map(Shared.init)
        }

        /// Makes the request in neutral terms, if that is done at once.
        @inlinable
        func makeAtOnce() -> Result<HTTP.Request, any Error>? {
            baseRequestMaking.makeAtOnce.map { make in Result { try make().httpRequest() } }
        }
    }

    @usableFromInline let content: Content

    /// Makes the request.
    @inlinable public var baseRequestMaking: Network.BaseRequestMaking<Request> { content.baseRequestMaking }
    /// The same, without a copy of what else it is, whose type would be looked up.
    @inlinable var make: @Sendable (@escaping Network.BaseRequestMaking<Request>.Handler) -> any Cancelable {
        content.baseRequestMaking.make
    }
    /// Whether the request is made at once, and nobody is handed it.
    @inlinable var makesAtOnce: Bool { content.baseRequestMaking.makeAtOnce != nil }
    /// Makes the API's error of an unsuccessful response.
    public var errorDecoding: Network.ErrorDecoding<Data, Response> { content.errorDecoding }
    /// Hear and decide what happens to its fetches, in order, after the stack's own.
    public var interceptors: Interceptors { content.interceptors }
    /// Whether there is an interceptor. Every fetch asks, and the list's type would be looked up each time.
    @inlinable var isIntercepted: Bool { content.isIntercepted }
    /// Chooses between the interceptors' votes on a failure.
    public var retryActionPriority: Retry.Action.CompareClosure { content.retryActionPriority }
    /// How the request is carried out, or `nil` for the stack's way.
    ///
    /// - Warning: They take the place of the stack's options as a whole. What the stack says and these do not is dropped: its
    ///   timeouts and limits, its Digest credentials, and its ``HTTP/Options/Redirects/sensitiveHeaders``, without which a
    ///   secret field follows redirects to other origins. Change a copy of the stack's (``HTTPNetworkStack/options``) instead of
    ///   making new ones.
    public var options: HTTP.Options? { content.options?.value }
    /// The same, without a copy.
    @inlinable var sharedOptions: Shared<HTTP.Options>? { content.options }

    /// Makes a resource.
    ///
    /// - Parameters:
    ///   - baseRequestMaking: Makes the request, afresh for every attempt.
    ///   - errorDecoding: Makes the API's error of an unsuccessful response.
    ///   - interceptors: Hear and decide what happens to its fetches, in order, after the stack's own.
    ///   - retryActionPriority: Chooses between the interceptors' votes on a failure: it folds them in order, from `.none`.
    ///   - options: How the request is carried out, instead of all that the stack's options say; `nil` for the stack's way.
    public init(
        baseRequestMaking: Network.BaseRequestMaking<Request>,
        errorDecoding: Network.ErrorDecoding<Data, Response> = .dummy,
        interceptors: Interceptors = [],
        retryActionPriority: @escaping Retry.Action.CompareClosure = Retry.Action.mostPrioritary,
        options: HTTP.Options? = nil
    ) {
        content = Content(
            baseRequestMaking: baseRequestMaking,
            errorDecoding: errorDecoding,
            interceptors: interceptors,
            retryActionPriority: retryActionPriority,
            options: options
        )
    }
}

extension HTTPResource {
    /// A retry policy of the stack's own types.
    public typealias RetryPolicy = Retry.Policy<Retry.Metadata<Request, Response>>
}
