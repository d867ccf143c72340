import Dispatch
import Foundation
import NetworkStack

/// What one fetch is asked to do.
struct Order: Sendable {
    var request: HTTP.Request
    var options: HTTP.Options
    var stack: StackChoice
    /// How often it may be tried again.
    var retries = 0
}

/// How one fetch ended.
struct Outcome: Sendable {
    /// The URL that answered last, or was asked last.
    let url: URL
    /// The last head that came.
    let head: HTTP.Response?
    /// How many requests were sent.
    let hops: Int
    /// Bytes of content of the last hop.
    let count: Int64
    /// What it took, as far as it is known.
    let metrics: HTTP.Metrics
    /// From the call to the end.
    let elapsed: Duration
    /// Why it failed; `nil` if the response is whole, whatever its status.
    let failure: Failure?
}

/// Any stack, as netfetch needs it: what a fetch brings is told as it comes.
struct Carrier: Sendable {
    private let start:
        @Sendable (Order, Reception, @escaping @Sendable (HTTP.Response?, Failure?) -> Void) -> any Cancelable

    /// Carries fetches with the transport of a stack.
    ///
    /// - Parameters:
    ///   - stack: The stack, which is kept.
    ///   - configuration: What the stack was made with.
    init<Stack: HTTPTransportStack>(_ stack: Stack, _ configuration: Network.Configuration) {
        start = { order, reception, completion in
            var order = order
            // A stack that always decompresses is to ask for what needs no decompressing.
            if !order.options.decompresses, !stack.capabilities.supports(.rawContent) {
                order.options.decompresses = true
                if !order.request.headers.contains(.acceptEncoding) {
                    order.request.headers.append("identity", for: .acceptEncoding)
                }
            }
            // An engine is a clock and a queue; one of its own tells a fetch's hops from those of others.
            var configuration = configuration
            configuration.options = order.options
            configuration.serverTrustReporter = { reception.received(report: $0) }
            if order.retries > 0 {
                let passing = HTTPRetryPolicy.passing(limit: order.retries, reception: reception) { error in
                    (error as? HTTPFetchError<HTTP.Response, Stack.TransportError>).flatMap { Failure($0) }
                }
                configuration.interceptors = [passing]
                reception.holdsTransient()
            }
            let engine = HTTPEngine(
                transport: Tap(base: stack.engine.transport, reception: reception),
                configuration: configuration
            )
            return engine.fetch(.init(baseRequestMaking: .request(order.request), options: order.options)) { result in
                switch result {
                case .success(let fetched): completion(fetched.response, nil)
                case .failure(let error): completion(error.response, Failure(error))
                }
            }
        }
    }

    /// Fetches. The completion is called once, after the receiver has had everything.
    func fetch(_ order: Order, receiver: any Receiver, completion: @escaping @Sendable (Outcome) -> Void) {
        let began = ContinuousClock.now
        let reception = Reception(order.request, receiver: receiver)
        let fetching = start(order, reception) { response, failure in
            let elapsed = ContinuousClock.now - began
            reception.end(isWhole: failure == nil) { arrival in
                completion(
                    Outcome(
                        url: response?.url ?? arrival.request.url,
                        head: response ?? arrival.head,
                        hops: arrival.hops,
                        count: arrival.count,
                        metrics: response?.metrics ?? arrival.metrics ?? HTTP.Metrics(),
                        elapsed: elapsed,
                        failure: arrival.failure ?? failure
                    )
                )
            }
        }
        reception.hold(fetching: fetching)
    }
}
