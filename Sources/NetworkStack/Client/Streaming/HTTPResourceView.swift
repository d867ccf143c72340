/// The same stack with other options or more interceptors. It shares everything else with the original stack, and retains it.
public struct HTTPResourceView<Base: HTTPNetworkStack>: HTTPNetworkStack {
    /// The stack's resource.
    public typealias Resource = HTTPResource<Base.Request, Base.Response>
    /// The type of the delivered body.
    public typealias Remote = Base.Remote
    /// The stack's request.
    public typealias Request = Base.Request
    /// The stack's response.
    public typealias Response = Base.Response
    /// The error of the stack's transfers.
    public typealias TransportError = Base.TransportError

    /// What the stack can do here, with a reason for everything that it cannot.
    public var capabilities: HTTP.Capabilities { base.capabilities }

    /// The stack's options after the change.
    public var options: HTTP.Options { change.map { base.options.changed(by: $0) } ?? base.options }

    /// What the stack is doing now.
    public var gauges: Network.Gauges { get async { await base.gauges } }

    let base: Base
    var change: HTTP.Options.Change?
    var interceptors: Resource.Interceptors = []

    /// Fetches a resource; its own change of the options is made after the view's, and its interceptors follow the view's.
    @discardableResult
    public func fetch(resource: Resource, completion: @escaping Completion<Remote>) -> any Cancelable {
        base.fetch(resource: changed(resource), completion: completion)
    }

    /// Fetches a resource. Cancelling the task cancels the fetch.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The body and its response.
    /// - Throws: The stack's failure; ``HTTPFetchError/cancelled`` if the task was cancelled.
    public func fetch(resource: Resource) async throws(FetchError) -> Network.Value<Remote, Response> {
        try await base.fetch(resource: changed(resource))
    }

    /// Fetches a resource and delivers its body while it arrives.
    public func stream(
        resource: Resource,
        completion: @escaping Completion<ByteStream<FetchError>>
    ) -> any Cancelable { base.stream(resource: changed(resource), completion: completion) }

    /// Fetches a resource and delivers its body while it arrives.
    public func stream(
        resource: Resource
    ) async throws(FetchError) -> Network.Value<ByteStream<FetchError>, Response> {
        try await base.stream(resource: changed(resource))
    }

    /// Shuts the stack down.
    public func shutdown() async { await base.shutdown() }

    /// Shuts the stack down when its fetches have finished, or after this time.
    public func shutdown(after grace: Duration) async { await base.shutdown(after: grace) }

    private func changed(_ resource: Resource) -> Resource { resource.changing(change, interceptedBy: interceptors) }
}

extension HTTPNetworkStack {
    /// The same stack with other options, on the same connections.
    ///
    /// - Parameter options: Changes the stack's options: `{ $0.timeouts.total = .seconds(5) }`. What it does not mention stays. A
    ///   resource's or a call's own change is made after it.
    /// - Returns: The view.
    public func with(options: @escaping HTTP.Options.Change) -> HTTPResourceView<Self> {
        HTTPResourceView(base: self, change: options)
    }

    /// The same stack with more interceptors, such as a retry policy, on the same connections.
    ///
    ///     let retrying = stack.with(interceptors: [HTTPRetryPolicy.standard])
    ///     let order = try await retrying.get(url, as: Order.self)
    ///
    /// - Parameter interceptors: Take part in the view's fetches, in order: after the stack's interceptors, before a resource's.
    /// - Returns: The view.
    public func with(
        interceptors: [any HTTPResourceInterceptor<HTTP.Request, HTTP.Response>]
    ) -> HTTPResourceView<Self> {
        HTTPResourceView(base: self, interceptors: interceptors.map { $0.adapted() })
    }
}
