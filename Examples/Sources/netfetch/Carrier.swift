import Dispatch
import Foundation
import NetworkStack

/// One fetch to carry out.
struct Order: Sendable {
    var request: HTTP.Request
    var options: HTTP.Options
    var stack: StackChoice
    var retrying = Retrying()
    var speed: ByteCount?

    /// Refuses invalid options.
    ///
    /// - Returns: The same fetch.
    /// - Throws: A ``Failure``.
    func validated() throws(Failure) -> Order {
        do { try options.validate() } catch { throw Failure(making: error) }
        return self
    }
}

/// How one fetch ended.
struct Outcome: Sendable {
    /// The URL of the last response, or of the last request.
    let url: URL
    /// The last request.
    let request: HTTP.Request
    /// The last head that came.
    let head: HTTP.Response?
    /// The requests of the last attempt: the first, and those that redirects led to.
    let requests: [HTTPHop]
    /// How many requests were sent, redirects and retries included.
    let hops: Int
    let redirects: Int
    let retries: Int
    /// Bytes of the last hop's body.
    let count: Int64
    /// What it took, as far as the stack measures it.
    let metrics: HTTP.Metrics
    /// From the call to the end.
    let elapsed: Duration
    /// Why it failed; `nil` if the response is whole, whatever its status.
    let failure: Failure?
}

/// Any stack, as netfetch needs it: a receiver gets what a fetch brings, as it comes.
struct Carrier: Sendable {
    private let start:
        @Sendable (Order, Reception, @escaping @Sendable (HTTP.Response?, HTTP.Metrics?, Failure?) -> Void)
            -> any Cancelable

    /// Carries fetches with the transport of a stack.
    ///
    /// - Parameters:
    ///   - stack: The stack, which is kept.
    ///   - configuration: What the stack was made with.
    ///   - recording: What observes every fetch.
    init<Stack: HTTPTransportStack>(
        _ stack: Stack,
        _ configuration: Network.Configuration,
        _ recording: Recording? = nil
    ) {
        start = { order, reception, completion in
            var order = order
            // A stack that always decompresses asks for a body that needs none.
            if !order.options.decompresses, !stack.capabilities.supports(.disablingDecompression) {
                order.options.decompresses = true
                if !order.request.headers.contains(.acceptEncoding) {
                    order.request.headers.append("identity", for: .acceptEncoding)
                }
            }
            // Each fetch has an engine, a clock and a queue, so that its hops are not mixed with those of others.
            var configuration = configuration
            if let speed = order.speed { order.request.body = Pace.paced(order.request.body, speed) }
            if !order.request.body.isEmpty { order.options.onBytesSent = { reception.sent($0, of: $1) } }
            configuration.options = order.options
            configuration.serverTrustReporter = { reception.received(report: $0) }
            if order.retrying.limit > 0 {
                let policy = order.retrying.policy(reception: reception) { error in
                    (error as? HTTPFetchError<HTTP.Response, Stack.TransportError>).flatMap { Failure($0) }
                }
                configuration.interceptors = [policy]
                reception.holdsTransient()
            }
            if let recording {
                configuration.listeners = [recording]
                recording.begins()
            }
            let engine = HTTPEngine(
                transport: Tap(base: stack.engine.transport, reception: reception),
                configuration: configuration
            )
            return engine.fetch(.init(baseRequestMaking: .request(order.request))) { result in
                switch result {
                case .success(let fetched): completion(fetched.response, fetched.response.metrics, nil)
                case .failure(let error):
                    completion(error.response, error.context?.metrics ?? error.response?.metrics, Failure(error))
                }
            }
        }
    }

    /// Fetches. The completion is called once, after the receiver has had everything.
    func fetch(_ order: Order, receiver: any Receiver, completion: @escaping @Sendable (Outcome) -> Void) {
        let began = ContinuousClock.now
        let reception = Reception(order.request, speed: order.speed, receiver: receiver)
        let fetching = start(order, reception) { response, metrics, failure in
            let elapsed = ContinuousClock.now - began
            reception.end(isWhole: failure == nil) { arrival in
                completion(
                    Outcome(
                        url: response?.url ?? arrival.request.url,
                        request: arrival.request,
                        head: response ?? arrival.head,
                        requests: arrival.requests,
                        hops: arrival.hops,
                        redirects: arrival.redirects,
                        retries: arrival.retries,
                        count: arrival.count,
                        metrics: metrics ?? arrival.metrics ?? HTTP.Metrics(),
                        elapsed: elapsed,
                        failure: arrival.failure ?? failure
                    )
                )
            }
        }
        reception.hold(fetching: fetching)
    }
}

extension HTTP.Body {
    /// Whether there is no body.
    var isEmpty: Bool { if case .none = self { true } else { false } }
}
