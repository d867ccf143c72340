public import Dispatch
public import FoundationEssentials

/// What every HTTP stack shares: it makes requests, follows redirects, keeps deadlines and limits, classifies, and
/// completes exactly once. A stack is an engine over a transport.
///
/// The engine, and with it the transport, lives as long as its owner or any fetch in flight.
public final class HTTPEngine<Transport: HTTPTransport>: Sendable {
    /// Carries the hops.
    public let transport: Transport
    /// How fetches are carried out, unless a resource says otherwise.
    public var options: HTTP.Options { sharedOptions.value }
    let sharedOptions: Shared<HTTP.Options>

    private let interceptors: HTTPResource<Transport.Request, Transport.Response>.Interceptors
    /// Whether anybody intercepts every fetch.
    let isIntercepted: Bool
    /// Header fields of every request, if there are any.
    let sessionHeaders: HTTP.Headers?
    /// What is remembered from one hop to the next, and from one fetch to the next.
    let memory: StateManagement
    private let wheel = TimerWheel()
    private let queue: DispatchQueue
    private let retryTimer: RetryTimer
    package let lastIdentifier: Lock<Int>
    /// Decides whom a request may go to; nobody, if everybody is trusted in the ordinary way.
    let judge: ServerTrustJudge?
    /// Hears of servers that are trusted although they do not pass.
    let reporter: ServerTrustJudge.Reporter?

    /// Makes an engine.
    ///
    /// - Parameters:
    ///   - transport: Carries the hops.
    ///   - configuration: How fetches are carried out, unless a resource says otherwise, and who intercepts them. It counts
    ///     as given; a stack validates it first. What it says of connections and TLS is the transport's concern.
    ///   - queue: Where completions are called, and everything else that is the user's code.
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

    /// Makes one of several engines of a stack, whose attempts are numbered together.
    package init(
        transport: Transport,
        configuration: Network.Configuration,
        queue: DispatchQueue,
        retryQueue: DispatchQueue,
        lastIdentifier: Lock<Int>
    ) {
        self.lastIdentifier = lastIdentifier
        self.transport = transport
        self.queue = queue
        sharedOptions = Shared(configuration.options)
        sessionHeaders = configuration.headers.isEmpty ? nil : configuration.headers
        memory = StateManagement(
            cookies: configuration.cookies,
            strictTransport: configuration.strictTransport,
            provesServers: configuration.tls.verification == .full
        )
        interceptors = configuration.interceptors.map { $0.adapted() }
        isIntercepted = !configuration.interceptors.isEmpty
        retryTimer = configuration.retryClock.map { .clock($0) } ?? .queue(retryQueue)
        let reporter = configuration.serverTrustReporter.map { hear in
            { @Sendable (report: ServerTrustReport) in queue.async { hear(report) } }
        }
        self.reporter = reporter
        judge = configuration.serverTrust.map { serverTrust in
            let reason = transport.capabilities.reason(against: .publicKeyPinning)
            return ServerTrustJudge(
                serverTrust,
                obstacle: transport.enforcesServerTrust ? nil : reason ?? "The transport does not say that it can.",
                now: configuration.wallClock,
                report: reporter ?? { _ in }
            )
        }
    }

    /// How a server must prove itself before anything is sent to it.
    ///
    /// - Throws: What speaks against sending anything at all.
    package func trust(for origin: HTTP.Origin) throws(HTTP.Refusal) -> ServerTrust {
        do { return try judge?.trust(for: origin) ?? .ordinary } catch { throw .untrusted(error) }
    }

    /// What a fetch on this engine fails with.
    public typealias FetchError = HTTPFetchError<Transport.Response, Transport.Failure>

    /// Fetches a resource and collects its content.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on the engine's queue.
    /// - Returns: Cancels the fetch.
    @inlinable  // so that its two closures are compiled for the stack's types
    public func fetch(
        _ resource: HTTPResource<Transport.Request, Transport.Response>,
        completion: @escaping @Sendable (Result<Network.Value<Data, Transport.Response>, FetchError>) -> Void
    ) -> any Cancelable {
        let (making, transport) = (resource.baseRequestMaking, transport)
        return collect(
            resource,
            plain: PlainSteps(
                make: { handler in making.make { made in handler(made.neutral) } },
                succeed: { response, data in
                    completion(.success(.init(value: data, response: transport.response(response))))
                }
            ),
            completion: completion
        )
    }

    @usableFromInline
    func collect(
        _ resource: HTTPResource<Transport.Request, Transport.Response>,
        plain: PlainSteps,
        completion: @escaping @Sendable (Result<Network.Value<Data, Transport.Response>, FetchError>) -> Void
    ) -> any Cancelable {
        fetch(
            resource,
            steps: Fetching(
                engine: self,
                resource: resource,
                reception: .collected { $0 },
                plain: plain,
                completion: completion
            )
        )
    }

    /// Fetches a resource and hands its content on while it arrives.
    ///
    /// A success is decided, and the completion called, when the response's head has come; what happens to the content after
    /// that is the stream's. The content of an unsuccessful response is collected, up to 1 MiB, for its error.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - remote: Makes what is delivered of the stream and the response's head.
    ///   - completion: Called exactly once, after this function has returned, on the engine's queue.
    /// - Returns: Cancels the fetch, and the stream after it.
    public func stream<Remote: Sendable>(
        _ resource: HTTPResource<Transport.Request, Transport.Response>,
        as remote: @escaping @Sendable (ByteStream, HTTP.Response) -> Remote,
        completion: @escaping @Sendable (Result<Network.Value<Remote, Transport.Response>, FetchError>) -> Void
    ) -> any Cancelable {
        let receiver = StreamReceiver()
        let making = resource.baseRequestMaking
        return fetch(
            resource,
            steps: Fetching(
                engine: self,
                resource: resource,
                reception: .streamed(receiver) { head in remote(ByteStream(receiver), head) },
                plain: PlainSteps(make: { handler in making.make { made in handler(made.neutral) } }, succeed: nil),
                completion: completion
            )
        )
    }

    private func fetch(
        _ resource: HTTPResource<Transport.Request, Transport.Response>,
        steps: any ExchangeSteps
    ) -> any Cancelable {
        let exchange = Exchange(
            options: steps.options,
            wheel: wheel,
            queue: queue,
            retryTimer: retryTimer,
            steps: steps
        )
        steps.receiver?.attach(exchange, cancelled: steps.streamError(of: .cancelled))
        defer { exchange.returnsToCaller() }
        exchange.begin(checkingOptions: resource.options != nil)
        return FetchInFlight(exchange)
    }

    func chain(
        for resource: HTTPResource<Transport.Request, Transport.Response>
    ) -> InterceptorChain<Transport.Request, Transport.Response> {
        InterceptorChain(
            interceptors: isIntercepted ? joined(resource.interceptors) : resource.interceptors,
            priority: resource.retryActionPriority
        )
    }

    /// Apart, because the list's type is looked up at run time as soon as this is entered.
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

/// What a fetch on an engine returns.
@usableFromInline
package final class FetchInFlight: Cancelable {
    private let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    @usableFromInline
    package func cancel() { exchange.cancel() }

    /// Promises that the completion runs no user code, so that it may be called where the fetch ended.
    @usableFromInline
    package func completesInPlace() { exchange.completesInPlace() }
}

/// Takes the events of one hop to its exchange, by number, so that a hop that is over is not mistaken for the next.
final class HopSink<Failure: Error>: HTTPTransferSink {
    private let exchange: Exchange
    private let hop: Int
    private let reporter: ServerTrustJudge.Reporter?

    init(_ exchange: Exchange, hop: Int, reporter: ServerTrustJudge.Reporter?) {
        self.exchange = exchange
        self.hop = hop
        self.reporter = reporter
    }

    func entered(_ phase: HTTP.Phase) { exchange.entered(phase, hop: hop) }
    func informational(_ response: HTTP.Response) { exchange.received(informational: response, hop: hop) }
    func head(_ response: HTTP.Response) { exchange.received(head: response, hop: hop) }
    func withheld(_ count: Int64) { exchange.withheld(count, hop: hop) }
    func sent(_ count: Int) { exchange.progressed(hop: hop) }
    func mismatched(_ report: ServerTrustReport) { reporter?(report) }

    func body(_ chunk: Data) -> Bool { exchange.received(body: chunk, hop: hop) }

    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        exchange.finished(trailers: trailers, metrics: metrics, hop: hop)
    }

    func failed(_ failure: HTTPTransferFailure<Failure>, metrics: HTTP.Metrics) {
        switch failure {
        case .transport(let error): exchange.failed(.transport(error), hop: hop)
        case .refused(let refusal): exchange.failed(.refused(refusal), hop: hop)
        case .badResponse: exchange.failed(.badResponse, hop: hop)
        }
    }
}
