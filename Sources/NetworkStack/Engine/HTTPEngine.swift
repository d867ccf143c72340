public import Dispatch
public import FoundationEssentials

/// The common part of all HTTP stacks: it makes requests, follows redirects, applies timeouts and limits, decides which response is
/// a failure, and calls each completion exactly once. A stack consists of an engine and a transport.
///
/// The engine, and with it the transport, lives as long as its owner or any fetch in flight.
public final class HTTPEngine<Transport: HTTPTransport>: Sendable {
    /// Carries the hops.
    public let transport: Transport
    /// The options of fetches, unless a resource changes them.
    public var options: HTTP.Options { context.options.value }

    @usableFromInline let context: EngineContext
    private let interceptors: HTTPResource<Transport.Request, Transport.Response>.Interceptors
    /// Whether the stack has interceptors.
    @usableFromInline let isIntercepted: Bool
    /// Passes events to the listeners, if there are any.
    package var events: EventReporter? { context.events }

    /// Makes an engine.
    ///
    /// - Parameters:
    ///   - transport: Carries the hops.
    ///   - configuration: The options of fetches, and the interceptors. It is not validated here; a stack does that first. The
    ///     transport has to apply its connections and TLS.
    ///   - queue: The queue on which completions, callbacks of the options, interceptors and error decoding run. There are
    ///     exceptions. The first attempt's request is made, and its interceptors are called, within `fetch`. After a handler that is
    ///     called later, the next interceptor runs on the thread of that call. An ``HTTPInterceptor`` runs in a task.
    ///     ``HTTP/Options/failsForStatus`` and the clocks of a cookie jar and of the list of hosts for https are called on the
    ///     transport's threads. Listeners have a queue of their own.
    ///   - retryQueue: The queue of delayed retries, unless the configuration has a clock for them.
    public convenience init(
        transport: Transport,
        configuration: Network.Configuration = .init(),
        queue: DispatchQueue = .global(),
        retryQueue: DispatchQueue = .global()
    ) {
        self.init(
            transport: transport,
            configuration: configuration,
            queue: queue,
            retryQueue: retryQueue,
            events: EventReporter(configuration.listeners, advisories: transport.capabilities.advisories)
        )
    }

    /// Makes an engine. The batch is that of the thread on which the transport calls its sinks, if it has one. The reporter is that of
    /// the transport, which adds its connections.
    ///
    /// An engine that takes the place of another one continues it: both have the same gauges, and they are finished and shut down
    /// together.
    package init(
        transport: Transport,
        configuration: Network.Configuration,
        queue: DispatchQueue,
        retryQueue: DispatchQueue = .global(),
        batch: ResumeBatch? = nil,
        events: EventReporter?,
        continuing last: HTTPEngine? = nil
    ) {
        self.transport = transport
        let reason = transport.capabilities.reason(against: .publicKeyPinning)
        context = EngineContext(
            configuration: configuration,
            obstacleToPinning: transport.enforcesServerTrust
                ? nil : reason ?? "The transport does not enforce pins.",
            holdsBack: transport.capabilities.supports(.backPressure),
            queue: queue,
            retryQueue: retryQueue,
            batch: batch,
            events: events,
            deadlines: last?.context.deadlines ?? Deadlines(),
            counts: last?.context.counts ?? EngineCounts()
        )
        interceptors = configuration.interceptors.map { $0.adapted() }
        isIntercepted = !configuration.interceptors.isEmpty
    }

    /// Makes an engine that differs from another one of its stack in the transport only. A shutdown ends the fetches of both, and the
    /// gauges count them together.
    package init(transport: Transport, sharing other: HTTPEngine) {
        self.transport = transport
        context = other.context
        (interceptors, isIntercepted) = (other.interceptors, other.isIntercepted)
    }

    /// Ends all running fetches with ``HTTPFetchError/shutDown``, whatever they wait for: a request, a token, a connection, the
    /// server, the next attempt. Later fetches end with the same error at once.
    ///
    /// A stack calls it in its shutdown, between ``HTTPTransport/beginShutdown()`` and ``HTTPTransport/shutDown()``. It may be called any
    /// number of times, on any thread.
    public func shutDown() { context.shutDown() }

    /// Accepts no more fetches, and waits until the running ones have ended, whatever they wait for: a connection, the server, the
    /// next attempt, the last byte of a stream. Later fetches end with ``HTTPFetchError/shutDown`` at once, also those of an
    /// authenticator on the same stack.
    ///
    /// A stack that offers this calls it before its shutdown. When it returns, a completion may still be queued. It may be called
    /// any number of times, on any thread.
    ///
    /// - Parameter grace: The longest wait; zero or less means none. Cancelling the task ends the wait, too.
    public func finish(within grace: Duration) async { await context.finish(within: grace) }

    /// Accepts no more fetches, and calls back when the running ones have ended. Returns at once.
    package func finish(_ completion: @escaping @Sendable () -> Void) {
        let departure = context.deadlines.seal()
        Task {
            await departure.wait()
            completion()
        }
    }

    /// What the transport reports, with what the engine knows besides.
    public var gauges: Network.Gauges {
        get async {
            var gauges = await transport.gauges
            gauges.fetches = context.deadlines.count
            context.counts.report(to: &gauges)
            return gauges
        }
    }

    /// How a server must prove itself before anything is sent to it.
    ///
    /// - Throws: The reason why the request must not be sent.
    package func trust(for origin: HTTP.Origin) throws(ServerTrustError) -> ServerTrust {
        try context.trust(for: origin)
    }

    /// The error of a fetch on this engine.
    public typealias FetchError = HTTPFetchError<Transport.Response, Transport.Failure>

    /// Fetches a resource and collects its body.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on the engine's queue.
    /// - Returns: Cancels the fetch.
    @inlinable  // so that it is compiled for the stack it is called with
    public func fetch(
        _ resource: HTTPResource<Transport.Request, Transport.Response>,
        completion: @escaping @Sendable (Result<Network.Value<Data, Transport.Response>, FetchError>) -> Void
    ) -> any Cancelable { collect(resource, .call(completion)) }

    /// Fetches a resource and collects its body. Cancelling the task cancels the fetch.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The body and its response.
    /// - Throws: The failure, as an ``HTTPFetchError``; ``HTTPFetchError/cancelled`` if the task was cancelled.
    @inlinable  // so that it is compiled for the stack it is called with
    public func fetch(
        _ resource: HTTPResource<Transport.Request, Transport.Response>
    ) async throws(FetchError) -> Network.Value<Data, Transport.Response> {
        if Task.isCancelled { throw .cancelled }
        return try await OneShot.result { collect(resource, .resume($0)) }.get()
    }

    @inlinable
    func collect(
        _ resource: HTTPResource<Transport.Request, Transport.Response>,
        _ completion: FetchCompletion<Result<Network.Value<Data, Transport.Response>, FetchError>>
    ) -> any Cancelable {
        Fetch(engine: self, resource: resource, reception: .collected { $0 }, completion: completion).begin()
    }

    @inlinable
    func isIntercepted(_ resource: HTTPResource<Transport.Request, Transport.Response>) -> Bool {
        isIntercepted || resource.isIntercepted
    }

    /// Fetches a resource and delivers its body while it arrives.
    ///
    /// For a success, the completion is called when the response's head has arrived; a later failure is thrown by the stream. The
    /// body of a failure is collected, up to 1 MiB, for its error.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on the engine's queue.
    /// - Returns: Cancels the fetch, and the stream after it.
    public func stream(
        _ resource: HTTPResource<Transport.Request, Transport.Response>,
        completion:
            @escaping @Sendable (Result<Network.Value<ByteStream<FetchError>, Transport.Response>, FetchError>)
            -> Void
    ) -> any Cancelable { stream(resource, .call(completion)) }

    /// Fetches a resource and delivers its body while it arrives. Cancelling the task cancels the fetch, as long as this waits.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The stream and the response, when its head has arrived.
    /// - Throws: The failure, as an ``HTTPFetchError``. A failure after the head is thrown by the stream.
    public func stream(
        _ resource: HTTPResource<Transport.Request, Transport.Response>
    ) async throws(FetchError) -> Network.Value<ByteStream<FetchError>, Transport.Response> {
        if Task.isCancelled { throw .cancelled }
        return try await OneShot.result { stream(resource, .resume($0)) }.get()
    }

    private func stream(
        _ resource: HTTPResource<Transport.Request, Transport.Response>,
        _ completion: FetchCompletion<Result<Network.Value<ByteStream<FetchError>, Transport.Response>, FetchError>>
    ) -> any Cancelable {
        let receiver = StreamReceiver(batch: context.batch)
        let respond = transport.response
        let reception = Reception.streamed(receiver) { body in
            body.map { ByteStream<FetchError>($0) { $0.typed(respond) } } ?? ByteStream<FetchError>(receiver)
        }
        return Fetch(engine: self, resource: resource, reception: reception, completion: completion).begin()
    }

    @usableFromInline
    func interceptedAttempt(
        of resource: HTTPResource<Transport.Request, Transport.Response>,
        _ options: Shared<HTTP.Options>
    ) -> InterceptedAttempt<Transport.Request, Transport.Response> {
        let chain = InterceptorChain(
            interceptors: isIntercepted ? joined(resource.interceptors) : resource.interceptors,
            priority: resource.retryActionPriority,
            pathAsIs: options.value.pathAsIs,
            sensitiveHeaders: options.value.sensitiveHeaders
        )
        return InterceptedAttempt(chain)
    }

    /// Separate, because the list's type is looked up at run time as soon as it is entered.
    @inline(never)
    private func joined(
        _ others: HTTPResource<Transport.Request, Transport.Response>.Interceptors
    ) -> HTTPResource<Transport.Request, Transport.Response>.Interceptors { interceptors + others }
}
