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
    public let options: HTTP.Options

    private let wheel = TimerWheel()
    private let queue: DispatchQueue

    /// Makes an engine.
    ///
    /// - Parameters:
    ///   - transport: Carries the hops.
    ///   - options: How fetches are carried out, unless a resource says otherwise. They count as given; a stack validates
    ///     them first.
    ///   - queue: Where completions are called, and everything else that is the user's code.
    public init(transport: Transport, options: HTTP.Options = .init(), queue: DispatchQueue = .global()) {
        self.transport = transport
        self.options = options
        self.queue = queue
    }

    /// What a fetch on this engine fails with.
    public typealias FetchError = HTTPFetchError<Transport.Response, Transport.Failure>

    /// Fetches a resource and collects its content.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on the engine's queue.
    /// - Returns: Cancels the fetch.
    public func fetch(
        _ resource: HTTPResource<Transport.Request, Transport.Response>,
        completion: @escaping @Sendable (Result<Network.Value<Data, Transport.Response>, FetchError>) -> Void
    ) -> any Cancelable {
        let options = resource.options ?? options
        let exchange = Exchange(
            options: options,
            wheel: wheel,
            queue: queue,
            startHop: { [transport] hop, exchange, number in
                transport.start(hop, sink: HopSink<Transport.Failure>(exchange, hop: number))
            },
            complete: { [self] ending in completion(result(of: ending, resource, options)) }
        )
        defer { exchange.returnsToCaller() }
        exchange.begin(checkingOptions: resource.options != nil) { handler in
            resource.baseRequestMaking.make { made in
                handler(made.flatMap { request in Result { try request.httpRequest() } })
            }
        }
        return FetchInFlight(exchange)
    }

    /// Makes the stack's result of a neutral ending (the table in the contract's step 6).
    private func result(
        of ending: Ending,
        _ resource: HTTPResource<Transport.Request, Transport.Response>,
        _ options: HTTP.Options
    ) -> Result<Network.Value<Data, Transport.Response>, FetchError> {
        switch ending {
        case .whole(let neutral, let data, let method):
            let response = transport.response(neutral)
            guard neutral.status.statusClass == .success else {
                let apiError = resource.errorDecoding.decode(data.isEmpty ? nil : data, response)
                return .failure(.http(neutral.status, apiError, response))
            }
            if data.isEmpty, !options.allowsEmptyBody(status: neutral.status, method: method) {
                return .failure(.noData(neutral.status, response))
            }
            return .success(.init(value: data, response: response))
        case .noRequest(let error): return .failure(.noRequest(error))
        case .refused(let refusal): return .failure(.refused(refusal))
        case .badResponse: return .failure(.badResponse(nil))
        case .cancelled: return .failure(.cancelled)
        case .transport(let error):
            return .failure((error as? Transport.Failure).map { .transport($0) } ?? .noRequest(error))
        }
    }
}

/// What a fetch on an engine returns.
package final class FetchInFlight: Cancelable {
    private let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    package func cancel() { exchange.cancel() }

    /// Promises that the completion runs no user code, so that it may be called where the fetch ended.
    package func completesInPlace() { exchange.completesInPlace() }
}

/// Takes the events of one hop to its exchange, by number, so that a hop that is over is not mistaken for the next.
private final class HopSink<Failure: Error>: HTTPTransferSink {
    private let exchange: Exchange
    private let hop: Int

    init(_ exchange: Exchange, hop: Int) {
        self.exchange = exchange
        self.hop = hop
    }

    func entered(_ phase: HTTP.Phase) { exchange.entered(phase, hop: hop) }
    func informational(_ response: HTTP.Response) { exchange.received(informational: response, hop: hop) }
    func head(_ response: HTTP.Response) { exchange.received(head: response, hop: hop) }
    func withheld(_ count: Int64) { exchange.withheld(count, hop: hop) }
    func sent(_ count: Int) { exchange.progressed(hop: hop) }

    func body(_ chunk: Data) -> Bool {
        exchange.received(body: chunk, hop: hop)
        return true
    }

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
