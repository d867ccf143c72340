public import FoundationEssentials

/// A network stack for HTTP. Code written on `some HTTPNetworkStack<Data>` runs on every backend: choose the backend in one line,
/// or at run time with ``AnyHTTPNetworkStack``.
///
/// A conformer implements two functions, ``NetworkStack/fetch(resource:completion:)`` and ``stream(resource:completion:)``, and two
/// properties. The short calls, streams, downloads and views are extensions. A backend conforms to ``HTTPTransportStack`` instead,
/// which needs only its transport.
public protocol HTTPNetworkStack<Remote>: NetworkStack
where
    Resource == HTTPResource<Request, Response>,
    Request: HTTPRequestConvertible,
    Response: HTTPResponseConvertible,
    FetchError == HTTPFetchError<Response, TransportError>
{
    /// The error of a failed transfer.
    associatedtype TransportError: Error

    /// What the stack can do here, with a reason for everything that it cannot.
    var capabilities: HTTP.Capabilities { get }

    /// The options of fetches. A resource, a call or a view (``with(options:)``) changes these options for itself.
    var options: HTTP.Options { get }

    /// What the stack is doing now. By default it is empty; a stack on an ``HTTPTransport`` reports its fetches, requests and bytes.
    var gauges: Network.Gauges { get async }

    /// Fetches a resource. Cancelling the task cancels the fetch, which then throws ``HTTPFetchError/cancelled``.
    ///
    /// The default implementation uses the form with a completion; a stack may have a faster one.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The body and its response.
    /// - Throws: The failure, as an ``HTTPFetchError``.
    func fetch(resource: Resource) async throws(FetchError) -> Network.Value<Remote, Response>

    /// Fetches a resource and delivers its body while it arrives.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on a queue of the stack: for a success when the
    ///     response's head has arrived. A failure after that is thrown by the stream.
    /// - Returns: Cancels the fetch, and the stream after it.
    @discardableResult
    func stream(resource: Resource, completion: @escaping Completion<ByteStream<FetchError>>) -> any Cancelable

    /// Fetches a resource and delivers its body while it arrives. Cancelling the task cancels the fetch, as long as this waits.
    ///
    /// The default implementation uses the form with a completion.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The stream and the response, when its head has arrived.
    /// - Throws: Why there is no response. A failure after the head is thrown by the stream.
    func stream(resource: Resource) async throws(FetchError) -> Network.Value<ByteStream<FetchError>, Response>

    /// Ends all running fetches with ``HTTPFetchError/shutDown``, releases the stack's resources, and waits until that is done.
    /// Later fetches fail with the same error. It may be called any number of times. By default it does nothing.
    func shutdown() async

    /// Refuses new fetches, waits for the running ones for a limited time, and then does what ``shutdown()`` does. By default it does
    /// that at once.
    ///
    /// - Parameter grace: The longest wait. There is none if it is zero or negative. Cancelling the task ends the wait, too.
    func shutdown(after grace: Duration) async
}

extension HTTPNetworkStack {
    /// Empty.
    public var gauges: Network.Gauges { get async { .init() } }

    /// What the stack is doing, again and again: at once, and then after each interval.
    ///
    /// The sequence retains the stack. It ends when the task that reads it is cancelled.
    ///
    /// - Parameter interval: The time between two values; at least a millisecond.
    /// - Returns: The gauges, as long as they are read. Nothing is measured between reads.
    public func gauges(every interval: Duration) -> some AsyncSequence<Network.Gauges, Never> & Sendable {
        GaugeSequence(interval: max(interval, .milliseconds(1))) { await gauges }
    }

    /// Fetches a resource and delivers its body while it arrives. Cancelling the task cancels the fetch, as long as this waits.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The stream and the response, when its head has arrived.
    /// - Throws: Why there is no response. A failure after the head is thrown by the stream.
    public func stream(
        resource: Resource
    ) async throws(FetchError) -> Network.Value<ByteStream<FetchError>, Response> {
        if Task.isCancelled { throw .cancelled }
        return try await OneShot.result { waiting in stream(resource: resource) { waiting.fill($0) } }.get()
    }

    /// Does nothing.
    public func shutdown() async {}

    /// Does what ``shutdown()`` does, without a wait.
    public func shutdown(after grace: Duration) async { await shutdown() }

    /// The neutral response of a stack's response. A result, because a generic function that throws such a typed error crashes
    /// Swift 6.3.1 with -O (FunctionSignatureOpts).
    func neutral(_ response: Response) -> Result<HTTP.Response, FetchError> {
        response.httpResponse.map { .success($0) } ?? .failure(.badResponse(response))
    }
}

/// A stack that consists of an engine and a transport. Everything else is an extension. A conformer may implement the
/// asynchronous forms with ``HTTPEngine/fetch(_:)`` and ``HTTPEngine/stream(_:)``, which is faster.
public protocol HTTPTransportStack<Transport>: HTTPNetworkStack<Data>
where Request == Transport.Request, Response == Transport.Response, TransportError == Transport.Failure {
    /// Carries one hop.
    associatedtype Transport: HTTPTransport

    /// Does everything that is not part of a hop, such as redirects, retries and timeouts.
    var engine: HTTPEngine<Transport> { get }
}

extension HTTPTransportStack {
    /// What the transport can do here, with a reason for everything that it cannot.
    public var capabilities: HTTP.Capabilities { engine.transport.capabilities }

    /// The options of fetches, from the stack's configuration.
    public var options: HTTP.Options { engine.options }

    /// What the stack is doing now.
    public var gauges: Network.Gauges { get async { await engine.gauges } }

    /// Fetches a resource and collects its body.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on a queue of the stack.
    /// - Returns: Cancels the fetch.
    @discardableResult
    @inlinable
    public func fetch(resource: Resource, completion: @escaping Completion<Data>) -> any Cancelable {
        engine.fetch(resource, completion: completion)
    }

    /// Fetches a resource and delivers its body while it arrives.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on a queue of the stack: for a success when the
    ///     response's head has arrived. A failure after that is thrown by the stream.
    /// - Returns: Cancels the fetch, and the stream after it.
    @discardableResult
    public func stream(resource: Resource, completion: @escaping Completion<ByteStream<FetchError>>) -> any Cancelable {
        engine.stream(resource, completion: completion)
    }

    /// Ends all running fetches, and all later ones, with ``HTTPFetchError/shutDown``, and shuts down the transport.
    public func shutdown() async {
        // First, so that no waiting hop takes the place of one that is ended.
        engine.transport.beginShutdown()
        engine.shutDown()
        await engine.transport.shutDown()
    }

    /// Refuses new fetches, waits for those in flight for a limited time, and then does what ``shutdown()`` does. Use it to end a service.
    ///
    /// Queueing, redirects, retries and their delays are part of a fetch, and so is a stream until its last byte has arrived; what is
    /// buffered then can be read afterwards. Later fetches fail with ``HTTPFetchError/shutDown``, including those of an authenticator
    /// on the same stack.
    ///
    /// - Parameter grace: The longest wait. There is none if it is zero or negative. Cancelling the task ends the wait, too.
    public func shutdown(after grace: Duration) async {
        await engine.finish(within: grace)
        await shutdown()
    }
}
