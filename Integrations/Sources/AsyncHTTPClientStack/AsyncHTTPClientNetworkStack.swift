public import AsyncHTTPClient
public import Dispatch
public import NIOCore
public import NetworkStack

extension Network {
    /// An HTTP stack on AsyncHTTPClient.
    ///
    ///     let network = try Network.AsyncHTTPClientNetworkStack(configuration: .init())
    ///
    /// When its owner drops it, the stack finishes its fetches and then frees everything; ``/NetworkStack/HTTPNetworkStack/shutdown()``
    /// ends them at once. ``/NetworkStack/HTTPNetworkStack/capabilities`` lists what it cannot do.
    public final class AsyncHTTPClientNetworkStack: HTTPTransportStack {
        /// The transport: AsyncHTTPClient, behind the stack's queue.
        public typealias Transport = HTTPQueuedTransport<AsyncHTTPClientTransport>

        /// The engine above AsyncHTTPClient.
        public let engine: HTTPEngine<Transport>

        /// Makes a stack.
        ///
        /// - Parameters:
        ///   - configuration: Connections, TLS, and the default options of fetches.
        ///   - eventLoopGroup: The stack uses one of its event loops for all connections. With several, AsyncHTTPClient may
        ///     report the end of an upload to its pool after the connection was closed, which crashes the process.
        ///   - queue: The queue on which completions run and delayed retries wait.
        /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` if the configuration contradicts itself, or if a
        ///   certificate or key cannot be read or used;
        ///   ``/NetworkStack/Network/ConfigurationError/unsupported(_:reason:)`` if AsyncHTTPClient cannot do what the
        ///   configuration asks for; ``/NetworkStack/Network/ConfigurationError/untrusted(_:)`` if it pins keys.
        public init(
            configuration: Configuration,
            eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
            queue: DispatchQueue = .global()
        ) throws(Network.ConfigurationError) {
            let transport = try AsyncHTTPClientTransport(configuration, on: eventLoopGroup.next())
            engine = HTTPEngine(
                transport: HTTPQueuedTransport(transport, configuration.connections),
                configuration: configuration,
                queue: queue,
                retryQueue: queue
            )
        }
    }
}
