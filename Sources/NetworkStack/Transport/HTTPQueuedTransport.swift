internal import Dispatch

/// A transport in front of another one. It limits how many transfers run per host and in total, queues the rest in order,
/// enforces the queue timeout, and refuses what the other one cannot do. It repeats an idempotent request whose connection died
/// without an answer, if the host has answered before: once, on a new connection (RFC 9110 section 9.2.2).
///
/// The transport behind it gets each hop when the hop may use a connection, and has to start it at once. Make the stack's engine
/// with this one:
///
///     engine = HTTPEngine(transport: HTTPQueuedTransport(transport, configuration.connections), configuration: configuration)
public struct HTTPQueuedTransport<Base: HTTPTransport>: HTTPTransport {
    /// The request type of the transport behind this one.
    public typealias Request = Base.Request
    /// The response type of the transport behind this one.
    public typealias Response = Base.Response
    /// The error of the transport behind this one.
    public typealias Failure = Base.Failure

    /// Carries the hops.
    public let base: Base
    let places: TransferPlaces

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - base: Carries the hops.
    ///   - connections: The limits. Only ``Network/Configuration/Connections/perHost`` and
    ///     ``Network/Configuration/Connections/total`` are applied; they count transfers, also over HTTP/2.
    public init(_ base: Base, _ connections: Network.Configuration.Connections) {
        self.base = base
        places = TransferPlaces(connections)
    }

    /// What the transport behind this one can do.
    public var capabilities: HTTP.Capabilities { base.capabilities }

    /// Whether the transport behind this one verifies pins.
    public var enforcesServerTrust: Bool { base.enforcesServerTrust }

    /// Starts a hop, queues it, or refuses it.
    public func start(_ hop: HTTPHop, sink: any HTTPTransferSink<Failure>) -> any HTTPTransfer {
        let transfer = QueuedTransfer(hop, sink: sink, places: places) { [base] in base.start($0, sink: $1) }
        do throws(Network.ConfigurationError) {
            try capabilities.require(for: hop)
            transfer.enter()
        } catch {
            DispatchQueue.global().async { transfer.refuse(.init(error)) }
        }
        return transfer
    }

    /// Makes the response of the transport behind this one.
    public func response(_ response: HTTP.Response) -> Response { base.response(response) }

    /// The requests that have a place, and those that wait.
    public var gauges: Network.Gauges { get async { .init(places.shares) } }

    /// Starts no waiting hop from now on.
    public func beginShutdown() {
        places.close()
        base.beginShutdown()
    }

    /// Shuts down the transport behind this one.
    public func shutDown() async { await base.shutDown() }
}
