public import Dispatch
public import FoundationEssentials

/// What every HTTP stack shares: it makes requests, follows redirects, keeps deadlines and limits, classifies, and
/// completes exactly once. A stack is an engine over a transport.
///
/// The engine, and with it the transport, lives as long as its owner or any fetch in flight.
public final class HTTPEngine<Transport: HTTPTransport>: Sendable {
    /// Carries the hops.
    public let transport: Transport
    /// How fetches are carried out, unless a resource changes that.
    public var options: HTTP.Options { context.options.value }

    @usableFromInline let context: EngineContext
    private let interceptors: HTTPResource<Transport.Request, Transport.Response>.Interceptors
    /// Whether the stack has interceptors.
    @usableFromInline let isIntercepted: Bool
    package let lastIdentifier: Lock<Int>

    /// Makes an engine.
    ///
    /// - Parameters:
    ///   - transport: Carries the hops.
    ///   - configuration: How fetches are carried out, unless a resource changes that, and the interceptors. It is not validated
    ///     here; a stack does that first. Its connections and TLS are the transport's concern.
    ///   - queue: Where completions are called, and the rest of the user's code, but for what begins a first attempt: its
    ///     request is made, and its interceptors are asked, within `fetch`. A custom clock in a cookie jar or in the list of
    ///     hosts for https is read where it is needed, on the transport's threads, too.
    ///   - retryQueue: Where delayed retries wait, unless the configuration has a clock for them.
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
            lastIdentifier: Lock(0)
        )
    }

    /// Makes an engine; the attempts of several engines of a stack are numbered together. The batch is that of the thread on
    /// which the transport calls its sinks, if it has one.
    package init(
        transport: Transport,
        configuration: Network.Configuration,
        queue: DispatchQueue,
        retryQueue: DispatchQueue = .global(),
        lastIdentifier: Lock<Int>,
        batch: ResumeBatch? = nil
    ) {
        self.lastIdentifier = lastIdentifier
        self.transport = transport
        let reason = transport.capabilities.reason(against: .publicKeyPinning)
        context = EngineContext(
            configuration: configuration,
            obstacleToPinning: transport.enforcesServerTrust
                ? nil : reason ?? "The transport does not say that it can.",
            queue: queue,
            retryQueue: retryQueue,
            batch: batch
        )
        interceptors = configuration.interceptors.map { $0.adapted() }
        isIntercepted = !configuration.interceptors.isEmpty
    }

    /// Ends every fetch under way with ``HTTPFetchError/shutDown``, whatever it waits for: its request, a token, a place, the
    /// server, its next attempt. Later fetches end with the same at once.
    ///
    /// A stack calls it in its own shutdown, after its transport takes no more. It may be called any number of times,
    /// on any thread.
    public func shutDown() { context.shutDown() }

    /// Takes no more fetches, and waits until those under way have come to their end, whatever they still need: their place,
    /// the server, their next attempt, the reader of a stream. Later fetches end with ``HTTPFetchError/shutDown`` at once; what an
    /// authenticator fetches on the same stack is one of them.
    ///
    /// A stack that offers this calls it before its shutdown. When it returns, a completion may still be on its way to its queue.
    /// It may be called any number of times, on any thread.
    ///
    /// - Parameter grace: How long to wait at most; not at all if it is not longer than zero. Cancelling the task ends the
    ///   wait, too.
    public func finish(within grace: Duration) async { await context.finish(within: grace) }

    /// How a server must prove itself before anything is sent to it.
    ///
    /// - Throws: What speaks against sending anything at all.
    package func trust(for origin: HTTP.Origin) throws(ServerTrustError) -> ServerTrust {
        try context.trust(for: origin)
    }

    /// What a fetch on this engine fails with.
    public typealias FetchError = HTTPFetchError<Transport.Response, Transport.Failure>

    /// Fetches a resource and collects its content.
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

    /// Fetches a resource and collects its content. Cancelling the task cancels the fetch.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The content and its response.
    /// - Throws: Why the fetch failed, as ``HTTPFetchError`` has it; ``HTTPFetchError/cancelled`` if the task was cancelled.
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
    /// A success is decided, and the completion called, when the response's head has arrived; a later failure is thrown by the
    /// stream. The body of a failure is collected, up to 1 MiB, for its error.
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
    /// - Throws: Why there is no response, as ``HTTPFetchError`` has it. A failure after the head is thrown by the stream.
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
        let reception = Reception.streamed(receiver) { ByteStream<FetchError>(receiver) }
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
            pathAsIs: options.value.pathAsIs
        )
        return InterceptedAttempt(chain)
    }

    /// Separate, because the list's type is looked up at run time as soon as it is entered.
    @inline(never)
    private func joined(
        _ others: HTTPResource<Transport.Request, Transport.Response>.Interceptors
    ) -> HTTPResource<Transport.Request, Transport.Response>.Interceptors { interceptors + others }

    func nextIdentifier() -> Int {
        lastIdentifier.withLock { last in
            last += 1
            return last
        }
    }
}

/// Passes the events of one hop to its fetch, by number, so that a hop that is over is not mistaken for the next.
@usableFromInline
final class HopSink<Failure: Error>: HTTPTransferSink {
    @usableFromInline let loop: FetchLoop
    @usableFromInline let hop: Int

    @inlinable
    init(_ loop: FetchLoop, hop: Int) {
        self.loop = loop
        self.hop = hop
    }

    @usableFromInline
    func entered(_ phase: HTTP.Phase) { loop.entered(phase, hop: hop) }
    @usableFromInline
    func informational(_ response: HTTP.Response) { loop.received(informational: response, hop: hop) }
    @usableFromInline
    func head(_ response: HTTP.Response) { loop.received(head: response, hop: hop) }
    @usableFromInline
    func withheld(_ count: Int64) { loop.withheld(count, hop: hop) }
    @usableFromInline
    func sent(_ total: Int64) { loop.sent(total, hop: hop) }
    @usableFromInline
    func mismatched(_ report: ServerTrustReport) { loop.context.reporter?(report) }

    @usableFromInline
    func body(_ chunk: Data) -> Bool { loop.received(body: chunk, hop: hop) }

    @usableFromInline
    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        loop.finished(trailers: trailers, metrics: metrics, hop: hop)
    }

    @usableFromInline
    func finished(_ response: consuming HTTP.Response, body: Data, trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        loop.finished(consume response, body: body, trailers: trailers, metrics: metrics, hop: hop)
    }

    @usableFromInline
    func failed(_ failure: HTTPTransferFailure<Failure>, metrics: HTTP.Metrics) {
        loop.failed(failure.mapTransport { $0 }, metrics: metrics, hop: hop)
    }
}
