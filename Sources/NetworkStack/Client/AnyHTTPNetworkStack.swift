/// Any HTTP stack, for a choice at run time. Requests, responses and errors are the neutral ones.
public struct AnyHTTPNetworkStack<Remote: Sendable>: HTTPNetworkStack {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response
    /// The backend's error; see ``HTTPTransportError``.
    public typealias TransportError = any Error

    /// What the backend can do here, with a reason for everything that it cannot.
    public let capabilities: HTTP.Capabilities

    /// What the backend is doing now.
    public var gauges: Network.Gauges { get async { await currentGauges() } }

    /// The backend's current options.
    public var options: HTTP.Options { currentOptions() }

    private let currentOptions: @Sendable () -> HTTP.Options
    private let currentGauges: @Sendable () async -> Network.Gauges
    private let erased: @Sendable (Resource, @escaping Completion<Remote>) -> any Cancelable
    private let awaited: @Sendable (Resource) async -> Result<Network.Value<Remote, Response>, FetchError>
    private let streamed: @Sendable (Resource, @escaping Completion<ByteStream<FetchError>>) -> any Cancelable
    private let shut: @Sendable () async -> Void
    private let finished: @Sendable (Duration) async -> Void

    /// Erases a stack.
    ///
    /// - Parameter base: The stack. It is retained.
    public init<Base: HTTPNetworkStack<Remote>>(_ base: Base) {
        capabilities = base.capabilities
        currentOptions = { base.options }
        currentGauges = { await base.gauges }
        erased = { resource, completion in
            base.fetch(resource: resource.converted()) { completion(Self.erase($0)) }
        }
        awaited = { resource in
            let result = await Result(of: { () throws(Base.FetchError) in
                try await base.fetch(resource: resource.converted())
            })
            return Self.erase(result)
        }
        streamed = { resource, completion in
            base.stream(resource: resource.converted()) { result in
                completion(
                    Self.erase(result).map { opened in
                        .init(value: ByteStream(opened.value, mapError: \.erased), response: opened.response)
                    }
                )
            }
        }
        shut = { await base.shutdown() }
        finished = { await base.shutdown(after: $0) }
    }

    /// Fetches a resource.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on a queue of the backend.
    /// - Returns: Cancels the fetch.
    @discardableResult
    public func fetch(resource: Resource, completion: @escaping Completion<Remote>) -> any Cancelable {
        erased(resource, completion)
    }

    /// Fetches a resource. Cancelling the task cancels the fetch.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The body and its response.
    /// - Throws: The backend's failure, in neutral terms; ``HTTPFetchError/cancelled`` if the task was cancelled.
    public func fetch(resource: Resource) async throws(FetchError) -> Network.Value<Remote, Response> {
        try await awaited(resource).get()
    }

    /// Fetches a resource and delivers its body while it arrives.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on a queue of the backend: for a success when the
    ///     response's head has arrived.
    /// - Returns: Cancels the fetch, and the stream after it.
    @discardableResult
    public func stream(resource: Resource, completion: @escaping Completion<ByteStream<FetchError>>) -> any Cancelable {
        streamed(resource, completion)
    }

    /// Shuts the backend down.
    public func shutdown() async { await shut() }

    /// Shuts the backend down when its fetches have finished, or after this time.
    public func shutdown(after grace: Duration) async { await finished(grace) }

    private static func erase<Value, R, E>(
        _ result: Result<Network.Value<Value, R>, HTTPFetchError<R, E>>
    ) -> Result<Network.Value<Value, Response>, FetchError> {
        switch result {
        case .success(let fetched):
            guard let response = fetched.response.httpResponse else { return .failure(.badResponse(nil)) }
            return .success(.init(value: fetched.value, response: response))
        case .failure(let error): return .failure(error.erased)
        }
    }
}

extension HTTPResource<HTTP.Request, HTTP.Response> {
    /// The same resource for a stack with other types.
    func converted<R, S>() -> HTTPResource<R, S> {
        let decoding = errorDecoding
        return HTTPResource<R, S>(
            baseRequestMaking: .init(baseRequestMaking) { try R($0) },
            errorDecoding: .init { payload, response in response.httpResponse.flatMap { decoding.decode(payload, $0) }
            },
            interceptors: interceptors.map { $0.adapted() },
            retryActionPriority: retryActionPriority,
            options: options
        )
    }
}
