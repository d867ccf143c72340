public import Dispatch
public import FoundationEssentials
public import NetworkStack

extension Network {
    /// An HTTP stack on libcurl's multi interface.
    ///
    /// A stack holds one thread and its own connections; make one and share it. Dropped by its owner, it finishes its
    /// fetches and then frees everything; ``shutdown()`` ends them at once.
    ///
    /// - Important: A stack must not be used on both sides of a `fork`.
    public final class CurlNetworkStack: HTTPTransportStack {
        /// The transport: libcurl.
        public typealias Transport = CurlTransport
        /// Requests are the neutral ones.
        public typealias Request = HTTP.Request
        /// Responses are the neutral ones.
        public typealias Response = HTTP.Response
        /// What libcurl fails with.
        public typealias TransportError = CurlError

        /// The engine above libcurl.
        public let engine: HTTPEngine<CurlTransport>

        /// Makes a stack.
        ///
        /// - Parameters:
        ///   - configuration: Connections, trust, and how fetches are carried out.
        ///   - queue: Where completions are called.
        /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` if the configuration makes no sense, if authorities or the client's
        ///   identity cannot be read or are of no use, if libcurl is too old (before 7.87) or not built on OpenSSL, or if the system
        ///   has no thread or no file descriptors to give; ``/NetworkStack/Network/ConfigurationError/unsupported(_:reason:)`` if this libcurl
        ///   cannot do what is asked.
        public init(configuration: Configuration = .init(), queue: DispatchQueue = .global()) throws(ConfigurationError)
        {
            let transport = try CurlTransport(configuration: configuration)
            engine = HTTPEngine(
                transport: transport,
                configuration: configuration,
                queue: queue,
                lastIdentifier: Lock(0),
                batch: transport.thread.mailbox.batch
            )
        }

        /// Makes a stack that leaves some defects of libcurl as they are, to prove what is done about them.
        package init(configuration: Configuration, without quirks: LibcurlQuirks) throws(ConfigurationError) {
            engine = HTTPEngine(
                transport: try CurlTransport(configuration: configuration, quirks: .running.subtracting(quirks)),
                configuration: configuration,
                queue: .global()
            )
        }

        /// Fetches a resource and collects its content. Cancelling the task cancels the fetch.
        ///
        /// - Parameter resource: What to fetch.
        /// - Returns: The content and its response.
        /// - Throws: Why the fetch failed, as ``/NetworkStack/HTTPFetchError`` has it; ``/NetworkStack/HTTPFetchError/cancelled`` if the task was cancelled.
        @inlinable  // so that it is compiled for this stack where it is called
        public func fetch(resource: CurlResource) async throws(CurlFetchError) -> Network.Value<Data, Response> {
            try await engine.fetch(resource)
        }

        /// Ends every fetch under way with ``/NetworkStack/HTTPFetchError/shutDown``, frees every resource, and waits until that is done.
        ///
        /// Later fetches fail with the same. It may be called any number of times.
        public func shutdown() async {
            let thread = engine.transport.thread
            // First, so that nobody takes the place of one that is ended.
            thread.mailbox.post(.shutDown)
            engine.shutDown()
            await thread.ended()
        }

        /// Takes no more fetches, lets those under way come to their end, for a while, and then shuts down: for a service that is
        /// told to end.
        ///
        /// Waiting in line, redirects, retries and their delays are part of a fetch, and so is a stream to its end. Later
        /// fetches fail with ``/NetworkStack/HTTPFetchError/shutDown``; what an authenticator fetches on the same stack is one of
        /// them. What is not over by then ends as with ``shutdown()``.
        ///
        /// - Parameter grace: How long to wait for the fetches at most; not at all if it is not longer than zero. Cancelling the
        ///   task ends the wait, too.
        public func shutdown(after grace: Duration) async {
            await engine.finish(within: grace)
            await shutdown()
        }
    }

    /// What a curl stack fetches.
    public typealias CurlResource = HTTPResource<HTTP.Request, HTTP.Response>

    /// What a fetch on a curl stack fails with.
    public typealias CurlFetchError = HTTPFetchError<HTTP.Response, CurlError>
}

extension Network.CurlNetworkStack {
    /// How the stack's connections stand now. After a shutdown there are none.
    public var connectionStatistics: Network.ConnectionStatistics {
        get async {
            let answer = Handover<Network.ConnectionStatistics>()
            guard engine.transport.thread.mailbox.post(.report(answer)) else { return .init() }
            return await answer.take()
        }
    }
}
