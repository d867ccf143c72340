public import Dispatch
public import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Network {
    /// An HTTP stack on URLSession.
    ///
    /// Make one with a configuration and share it:
    ///
    ///     let network = try Network.URLSessionNetworkStack(configuration: .init())
    ///
    /// Dropped by its owner, such a stack finishes its fetches and then frees everything. With a session of one's own:
    ///
    ///     let network = Network.URLSessionNetworkStack()
    ///     network.session = URLSession(configuration: .default, delegate: network, delegateQueue: nil)
    ///
    /// A session keeps its delegate, so this one is freed only after ``finishFetchesAndInvalidateSession()``. The cookies,
    /// the header fields and the connection limit of such a session's configuration count; its cache, its stored
    /// credentials and its timeouts do not. Where its cookies match, they take the place of a request's own `Cookie`. On
    /// Linux, URLSession ignores its `connectionProxyDictionary`, and a `URLProtocol` among its `protocolClasses` answers
    /// fetches without being shown their content. The header fields become the stack's, as ``/NetworkStack/Network/Configuration/headers`` are,
    /// so that credentials among them stay behind when a redirect leads to another origin; tasks that others make on the
    /// session go without.
    ///
    /// On Linux, ``/NetworkStack/HTTPNetworkStack/capabilities`` says what URLSession cannot do. What it does wrong is set
    /// right here, but for this, which a stack above it cannot:
    ///
    /// - A response with trailers, or a connection that ends within a head, crashes the process (swift-corelibs-foundation
    ///   #5285). So does a header line that begins with NUL, as libcurl before 8.14 ignores the rest of the head, a
    ///   `Content-Length` in the last 512 below 2^63, also in an answer to HEAD, and a redirect whose `Location` URLSession
    ///   itself cannot put together. Do not fetch from servers that you do not trust.
    /// - Waiting for the first answer on a new connection keeps a processor core busy: 2 s of it cost 2 s of processor time, 2 ms on
    ///   a kept connection (`_SocketSources` in FoundationNetworking's MultiHandle.swift keeps its source for writing).
    /// - All sessions of a process share one queue. A cancel or timeout during a slow name lookup holds all of them up until
    ///   the lookup ends, and so does a server that floods one with tiny chunks.
    /// - With libcurl before 8.4, a host of several addresses is not reached where the first ones take no connection (curl
    ///   #11920).
    /// - A request on a kept connection that dies without an answer is sent again by libcurl, whatever its method. If nobody takes
    ///   that second connection, a request without content is told as one that never was sent.
    /// - Some 150 bytes of every request are never freed.
    /// - The version of HTTP is reported as 1.1, and a fetch that looks a name up or connects as sending or waiting.
    /// - The content of a redirect is read to its end before the redirect is followed, and held in memory, whatever the
    ///   limits say; every piece is copied together with all before it, on the one queue: 100 MB can hold every session of the
    ///   process up for a minute. That of a redirect without a `Location` is lost, and such a fetch fails unless it is empty.
    /// - Proxies that the environment names (`http_proxy`, `https_proxy`, `ALL_PROXY`) are used, and cannot be turned off. So
    ///   a configuration has to ask for them (``/NetworkStack/Network/Proxies/environment(_:)``), or is refused where there
    ///   are any; with a session of one's own they are used unasked. What is in the environment when a stack is made has to stay
    ///   there. To a session of one's own all http hosts behind one proxy are one host: while a busy one has all of its
    ///   connections, fetches to another wait inside URLSession, where the idle timeout counts.
    /// - Through the tunnel of an HTTP proxy, an answer's head is told with its first content or its end, as it may be the proxy's
    ///   until then: a stream begins with its first piece, and a first-byte timeout waits for that. The metrics' `firstByte` is
    ///   that of the proxy, if it opened the tunnel for this fetch.
    /// - The cookies of a session of one's own are sent by their host alone, whatever their path and age, and a server may set
    ///   them for any domain above its own. A fetch over http that would take a secure one along is refused. Those of
    ///   ``/NetworkStack/Network/Configuration/cookies`` keep the rules.
    /// - A server whose certificate names it in its subject alone is taken for it, as libcurl takes it.
    /// - A connection is used up to its end, whatever its `Keep-Alive`: a POST may meet the server's close, and fail.
    /// - libcurl takes some versions in a status line that there are not, and chunks over HTTP/1.0.
    /// - A header value of blanks alone, a status line that ends after its status, and gzip of several members fail. gzip that is
    ///   cut short over HTTP/1.1 is taken for whole, and zstd may have any window.
    /// - Fields whose names differ only in case, other than `X-` ones, may be delivered as one of them.
    public final class URLSessionNetworkStack: NSObject, HTTPTransportStack, URLSessionDataDelegate {
        /// The transport: a URLSession.
        public typealias Transport = URLSessionTransport
        /// Foundation's request.
        public typealias Request = URLRequest
        /// Foundation's response.
        public typealias Response = URLResponse
        /// What URLSession fails with.
        public typealias TransportError = URLError

        private struct State {
            var engine: HTTPEngine<URLSessionTransport>
            /// The one that fetched, after the stack was closed, as long as it has anything to finish.
            weak var finishing: HTTPEngine<URLSessionTransport>?
            /// The one before the session came with header fields, as long as anything of it is under way.
            weak var earlier: HTTPEngine<URLSessionTransport>?
            var isClosed = false
            var session: URLSession?
        }

        /// Where delayed retries wait.
        let retryQueue: DispatchQueue
        let table: TaskTable
        private let configuration: Configuration
        private let queue: DispatchQueue
        private let state: Lock<State>

        /// Makes a stack that is to be given a session before its first fetch.
        ///
        /// - Parameters:
        ///   - authenticationChallengeHandler: Answers challenges. Without one a 401 is a response like any other.
        ///   - retryQueue: Where delayed retries wait.
        public init(
            authenticationChallengeHandler: (any AuthenticationChallengeHandler)? = nil,
            retryQueue: DispatchQueue = .global()
        ) {
            self.retryQueue = retryQueue
            configuration = .init()
            queue = .global()
            table = TaskTable(challengeHandler: authenticationChallengeHandler)
            let session = TransferSession(table: table)
            state = Lock(
                State(engine: HTTPEngine(transport: URLSessionTransport(session: session), retryQueue: retryQueue))
            )
            super.init()
        }

        /// Makes a stack with a session of its own.
        ///
        /// - Parameters:
        ///   - configuration: Connections, and how fetches are carried out.
        ///   - authenticationChallengeHandler: Answers challenges. Without one a 401 is a response like any other.
        ///   - queue: Where completions are called, and where delayed retries wait.
        /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` if the configuration makes no sense, on Linux also if the
        ///   environment names a proxy that cannot be read;
        ///   ``/NetworkStack/Network/ConfigurationError/unsupported(_:reason:)`` if URLSession cannot do what is asked here; on Linux also if
        ///   the environment names proxies and the configuration does not ask for them;
        ///   ``/NetworkStack/Network/ConfigurationError/untrusted(_:)`` if the configuration pins keys (``ServerTrustEvaluator``
        ///   does that where it can be done).
        public init(
            configuration: Configuration,
            authenticationChallengeHandler: (any AuthenticationChallengeHandler)? = nil,
            queue: DispatchQueue = .global()
        ) throws(Network.ConfigurationError) {
            try configuration.checkForURLSession()
            retryQueue = queue
            self.configuration = configuration
            self.queue = queue
            table = TaskTable(challengeHandler: authenticationChallengeHandler)
            let session = TransferSession(
                table: table,
                connections: configuration.connections,
                ownFields: OwnFields(
                    userAgent: configuration.userAgent,
                    acceptsAnything: configuration.acceptsAnything
                )
            )
            let urlSession = URLSession(
                configuration: .carrying(configuration),
                delegate: table,
                delegateQueue: Platform.eventQueue()
            )
            session.attach(urlSession)
            let engine = HTTPEngine(
                transport: URLSessionTransport(session: session),
                configuration: configuration,
                queue: queue,
                retryQueue: queue
            )
            state = Lock(State(engine: engine, session: urlSession))
            super.init()
        }

        /// The engine above URLSession.
        public var engine: HTTPEngine<URLSessionTransport> { state.withLock { $0.engine } }

        /// Fetches a resource and collects its content. Cancelling the task cancels the fetch.
        ///
        /// - Parameter resource: What to fetch.
        /// - Returns: The content and its response.
        /// - Throws: Why the fetch failed, as ``/NetworkStack/HTTPFetchError`` has it; ``/NetworkStack/HTTPFetchError/cancelled`` if the task was cancelled.
        public func fetch(resource: URLSessionResource) async throws(URLSessionError) -> Network.Value<Data, Response> {
            try await engine.fetch(resource)
        }

        /// The session that carries the fetches. It is set once, by a stack that was made without a configuration, to a
        /// session whose delegate is the stack, whose delegate queue is serial, and whose header fields can be sent with
        /// every request; anything else is a fatal error.
        public var session: URLSession? {
            get { state.withLock { $0.session } }
            set {
                guard let newValue else {
                    fatalError(
                        "The session of a stack cannot be taken away. Call finishFetchesAndInvalidateSession() instead."
                    )
                }
                guard let delegate = newValue.delegate else {
                    fatalError(
                        "The session has no delegate. Make it with URLSession(configuration:delegate: network, delegateQueue:)."
                    )
                }
                guard delegate === self else {
                    fatalError(
                        """
                        The session's delegate is not this stack. Make it with \
                        URLSession(configuration:delegate: network, delegateQueue:), with the stack it is given to.
                        """
                    )
                }
                guard newValue.delegateQueue.maxConcurrentOperationCount == 1 else {
                    fatalError(
                        """
                        The session's delegate queue is not serial. Give URLSession no queue, or one whose \
                        maxConcurrentOperationCount is 1.
                        """
                    )
                }
                var configuration = configuration
                configuration.headers = Self.headers(of: newValue)
                let engine = state.withLock { state -> HTTPEngine<URLSessionTransport>? in
                    guard state.session == nil else { return nil }
                    state.session = newValue
                    if !configuration.headers.isEmpty {
                        state.earlier = state.engine
                        state.engine = HTTPEngine(
                            transport: state.engine.transport,
                            configuration: configuration,
                            queue: queue,
                            retryQueue: retryQueue,
                            lastIdentifier: state.engine.lastIdentifier
                        )
                    }
                    return state.engine
                }
                guard let engine else {
                    fatalError("The stack has a session already, and keeps it. Make another stack for another session.")
                }
                engine.transport.session.attach(newValue)
            }
        }

        /// The header fields of a session of one's own, which it does not add itself any more.
        private static func headers(of session: URLSession) -> HTTP.Headers {
            var configuration = Configuration()
            configuration.headers = HTTP.Headers(additional: Platform.takeFields(from: session))
            if HTTP.Headers(additional: session.configuration.httpAdditionalHeaders ?? [:]).haveCredentials {
                fatalError(
                    """
                    The session's configuration has credentials among its httpAdditionalHeaders, which would follow a \
                    redirect to any server. Give them to the requests.
                    """
                )
            }
            do { try configuration.validate() } catch {
                fatalError("The session's configuration has httpAdditionalHeaders that no request can have: \(error)")
            }
            return configuration.headers
        }

        /// Lets the fetches under way come to their end, redirects and retries included, and then invalidates the session,
        /// which lets go of its delegate. Returns at once.
        ///
        /// Later fetches fail with ``/NetworkStack/HTTPFetchError/shutDown``. It may be called any number of times. A session
        /// that is invalidated in any other way may end the process at the next fetch.
        public func finishFetchesAndInvalidateSession() { close() }

        /// Ends every fetch under way with ``/NetworkStack/HTTPFetchError/shutDown``, invalidates the session, and waits until
        /// that is done.
        ///
        /// Later fetches fail with the same. It may be called any number of times.
        public func shutdown() async {
            close()
            // First, so that nobody takes the place of one that is ended.
            table.shutDown()
            state.withLock { $0.finishing }?.shutDown()
            state.withLock { $0.earlier }?.shutDown()
            guard let session else { return }
            // No task is made after this: all are made on the same queue, by transfers that ask for the session first.
            table.steering.async { session.finishTasksAndInvalidate() }
            await table.invalid()
        }

        /// Lets the fetches under way come to their end, as ``finishFetchesAndInvalidateSession()`` does, but not for longer than
        /// it is given, and then shuts down as ``shutdown()`` does: for a service that is told to end.
        ///
        /// - Parameter grace: How long to wait at most; not at all if not longer than zero, or once the task is cancelled.
        public func shutdown(after grace: Duration) async {
            close()
            let (finishing, earlier) = state.withLock { ($0.finishing, $0.earlier) }
            async let others: ()? = earlier?.finish(within: grace)
            await finishing?.finish(within: grace)
            await others
            await shutdown()
        }

        /// Puts an engine that refuses everything in the place of the one that fetches. Whatever is under way keeps the old
        /// one, whose session is invalidated when the last is done.
        private func close() {
            let refusing = HTTPEngine(
                transport: URLSessionTransport(session: TransferSession(table: table)),
                configuration: configuration,
                queue: queue,
                retryQueue: retryQueue
            )
            refusing.shutDown()
            let old = state.withLock { state in
                let old = state.engine
                guard !state.isClosed else { return old }
                (state.engine, state.finishing, state.isClosed) = (refusing, old, true)
                return old
            }
            withExtendedLifetime(old) {}
        }
    }
}
