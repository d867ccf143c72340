public import FoundationEssentials

/// What an HTTP stack fetches: the maker of its request, the decoding of its errors, its interceptors and options.
///
/// It is a value. Fetching does not change it, so the same resource can be fetched many times at once.
public struct HTTPResource<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>: Sendable {
    /// Interceptors in the order in which they are called.
    public typealias Interceptors = [any HTTPResourceInterceptor<Request, Response>]

    /// All of it in one place, so that a resource is small to pass on.
    @usableFromInline
    final class Content: Sendable {
        @usableFromInline let baseRequestMaking: Network.BaseRequestMaking<Request>
        let errorDecoding: Network.ErrorDecoding<Data, Response>
        let interceptors: Interceptors
        @usableFromInline let isIntercepted: Bool
        let retryActionPriority: Retry.Action.CompareClosure
        let options: HTTP.Options.Change?

        init(
            baseRequestMaking: Network.BaseRequestMaking<Request>,
            errorDecoding: Network.ErrorDecoding<Data, Response>,
            interceptors: Interceptors,
            retryActionPriority: @escaping Retry.Action.CompareClosure,
            options: HTTP.Options.Change?
        ) {
            self.baseRequestMaking = baseRequestMaking
            self.errorDecoding = errorDecoding
            self.interceptors = interceptors
            isIntercepted = !interceptors.isEmpty
            self.retryActionPriority = retryActionPriority
            self.options = options
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
    /// Makes the request. Reading it in place saves a copy of ``baseRequestMaking``, and the lookup of its type.
    @inlinable var make: @Sendable (@escaping Network.BaseRequestMaking<Request>.Handler) -> any Cancelable {
        content.baseRequestMaking.make
    }
    /// Makes the API's error of an unsuccessful response.
    public var errorDecoding: Network.ErrorDecoding<Data, Response> { content.errorDecoding }
    /// Take part in its fetches, in order, after the stack's interceptors.
    public var interceptors: Interceptors { content.interceptors }
    /// Whether there is an interceptor. Every fetch asks, and the list's type would be looked up each time.
    @inlinable var isIntercepted: Bool { content.isIntercepted }
    /// Chooses between the interceptors' votes on a failure.
    public var retryActionPriority: Retry.Action.CompareClosure { content.retryActionPriority }
    /// Changes the stack's options for this resource; `nil` leaves them as they are.
    public var options: HTTP.Options.Change? { content.options }

    /// The options of a fetch of this resource on a stack with these options.
    @usableFromInline
    func options(over stack: Shared<HTTP.Options>) -> Shared<HTTP.Options> {
        guard let change = content.options else { return stack }
        return Shared(stack.value.changed(by: change))
    }

    /// The same resource with options that are changed first, before its own change, and interceptors that come first.
    func changing(_ first: HTTP.Options.Change?, interceptedBy outer: Interceptors = []) -> Self {
        guard first != nil || !outer.isEmpty else { return self }
        return Self(
            baseRequestMaking: baseRequestMaking,
            errorDecoding: errorDecoding,
            interceptors: outer + interceptors,
            retryActionPriority: retryActionPriority,
            options: Self.joined(first, options)
        )
    }

    /// One change of options after another.
    private static func joined(_ first: HTTP.Options.Change?, _ then: HTTP.Options.Change?) -> HTTP.Options.Change? {
        guard let first, let then else { return first ?? then }
        return { options in
            first(&options)
            then(&options)
        }
    }

    /// Makes a resource.
    ///
    /// - Parameters:
    ///   - baseRequestMaking: Makes the request, anew for every attempt.
    ///   - errorDecoding: Makes the API's error of an unsuccessful response.
    ///   - interceptors: Take part in its fetches, in order, after the stack's interceptors.
    ///   - retryActionPriority: Chooses between the interceptors' votes on a failure. It combines them in order, starting with
    ///     `.none`.
    ///   - options: Changes the stack's options for this resource: `{ $0.timeouts.total = .seconds(5) }`.
    public init(
        baseRequestMaking: Network.BaseRequestMaking<Request>,
        errorDecoding: Network.ErrorDecoding<Data, Response> = .dummy,
        interceptors: Interceptors = [],
        retryActionPriority: @escaping Retry.Action.CompareClosure = Retry.Action.mostPrioritary,
        options: HTTP.Options.Change? = nil
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
