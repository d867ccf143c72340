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
    /// Its calls, such as `get(_:as:)`, are those of ``/NetworkStack/HTTPNetworkStack``. When its owner drops
    /// it, the stack finishes its fetches and then frees everything. It can also use a session that you make:
    ///
    ///     let network = Network.URLSessionNetworkStack()
    ///     network.session = URLSession(configuration: .default, delegate: network, delegateQueue: nil)
    ///
    /// A session retains its delegate, so such a stack is freed only after ``finishFetchesAndInvalidateSession()``. Of an
    /// injected session's configuration, the cookies, the header fields and the connection limit count; its cache, stored
    /// credentials and timeouts do not. Its matching cookies replace a request's own `Cookie`. Its header fields become those of
    /// the stack (``/NetworkStack/Network/Configuration/headers``): credentials among them are not sent to another origin after a
    /// redirect, and tasks that other code makes on the session do not get them. On Linux, URLSession ignores
    /// `connectionProxyDictionary`, and a `URLProtocol` in `protocolClasses` answers fetches but never gets their bodies.
    ///
    /// On Linux, ``/NetworkStack/HTTPNetworkStack/capabilities`` lists what URLSession cannot do. The stack works around most of
    /// its defects. It cannot work around these:
    ///
    /// - A response with trailers, or a connection that ends within a head, crashes the process (swift-corelibs-foundation #5285).
    ///   So do a header line that begins with NUL (before libcurl 8.14), a `Content-Length` within 512 of 2^63, and a redirect whose
    ///   `Location` URLSession cannot resolve. Do not fetch from servers that you do not trust.
    /// - Waiting for the first answer on a new connection keeps a processor core busy: waiting for 2 s costs 2 s of processor
    ///   time. On a keep-alive connection it costs 2 ms.
    /// - All sessions of a process share one queue. A cancel or timeout during a slow DNS lookup blocks all of them until the
    ///   lookup ends, and so does a server that floods one with tiny chunks.
    /// - With libcurl before 8.4, a host with several addresses cannot be reached if the first ones accept no connection (curl
    ///   #11920).
    /// - libcurl repeats a request on a keep-alive connection that dies without an answer, whatever its method. If the second
    ///   connection is refused, a request without a body is reported as never sent.
    /// - About 150 bytes of every request are never freed.
    /// - The version of HTTP is always reported as 1.1. Phases of DNS and connecting are reported as sending or waiting.
    /// - The body of a redirect is read to its end before the redirect is followed, and held in memory, regardless of limits.
    ///   Each chunk is copied with all before it on the shared queue: 100 MB can block every session of the process for a minute.
    ///   While it arrives, the first-byte and idle timeouts run as if nothing came.
    ///   The body of a redirect without a `Location` is lost, and the fetch fails unless the body is empty.
    /// - Proxies that the environment names (`http_proxy`, `https_proxy`, `ALL_PROXY`) cannot be turned off. A configuration has
    ///   to allow them (``/NetworkStack/Network/Proxies/environment(_:)``), or is refused where there are any. An injected
    ///   session uses them unasked. The environment must not change after a stack was made. An injected session treats all http
    ///   hosts behind one proxy as one host: fetches may wait inside URLSession, and the idle timeout runs.
    /// - Through a tunnel of an HTTP proxy, a head is reported with the first chunk of its body or with its end, because it may
    ///   be the proxy's until then. A first-byte timeout waits for that. The metrics' `firstByte` is that of the proxy, if it
    ///   opened the tunnel for this fetch.
    /// - Cookies of an injected session are matched by host only, without path and age, and a server may set them for any parent
    ///   domain. A fetch over http that would send a secure cookie is refused. Cookies of
    ///   ``/NetworkStack/Network/Configuration/cookies`` follow the rules.
    /// - A certificate that names the server in its subject only is accepted, as libcurl does.
    /// - `Keep-Alive: timeout=` is ignored: a POST may meet the server's close, and fail.
    /// - libcurl accepts some undefined versions in a status line, and chunks over HTTP/1.0.
    /// - A header value of blanks only, a status line without a reason, and gzip with several members fail. Truncated gzip over
    ///   HTTP/1.1 is accepted as complete, and zstd may have any window.
    /// - Fields whose names differ only in case, except `X-` ones, may be merged into one.
    public final class URLSessionNetworkStack: NSObject, HTTPTransportStack, URLSessionDataDelegate {
        /// The transport of the stack.
        public typealias Transport = URLSessionTransport
        /// Foundation's request.
        public typealias Request = URLRequest
        /// Foundation's response.
        public typealias Response = URLResponse
        /// The error of URLSession.
        public typealias TransportError = URLError

        /// The queue on which delayed retries wait.
        let retryQueue: DispatchQueue
        let table: TaskTable
        private let configuration: Configuration
        private let queue: DispatchQueue
        private let current: Lock<HTTPEngine<URLSessionTransport>>

        /// A stack with the default configuration, for small programs. It is made when it is first used. What
        /// ``init(configuration:authenticationChallengeHandler:queue:)`` would throw, each fetch throws.
        public static let shared = URLSessionNetworkStack()

        /// Makes a stack that is given its session before its first fetch, or makes one with the default configuration then. What
        /// ``init(configuration:authenticationChallengeHandler:queue:)`` would throw for that, each fetch throws.
        ///
        /// - Parameters:
        ///   - authenticationChallengeHandler: Answers challenges. Without one, a 401 is a response like any other.
        ///   - retryQueue: The queue on which delayed retries wait.
        public init(
            authenticationChallengeHandler: (any AuthenticationChallengeHandler)? = nil,
            retryQueue: DispatchQueue = .global()
        ) {
            self.retryQueue = retryQueue
            configuration = .init()
            queue = .global()
            table = TaskTable(challengeHandler: authenticationChallengeHandler)
            let session = TransferSession(table: table)
            current = Lock(HTTPEngine(transport: URLSessionTransport(session: session), retryQueue: retryQueue))
            super.init()
        }

        /// Makes a stack that makes its session itself.
        ///
        /// - Parameters:
        ///   - configuration: Connections, and the default options of fetches.
        ///   - authenticationChallengeHandler: Answers challenges. Without one, a 401 is a response like any other.
        ///   - queue: The queue on which completions run and delayed retries wait.
        /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` if the configuration contradicts itself, and on
        ///   Linux if the environment names a proxy that cannot be parsed;
        ///   ``/NetworkStack/Network/ConfigurationError/unsupported(_:reason:)`` if URLSession cannot do what the configuration
        ///   asks for, and on Linux if the environment names proxies that the configuration does not allow;
        ///   ``/NetworkStack/Network/ConfigurationError/untrusted(_:)`` if the configuration pins keys (where the system allows
        ///   it, use ``ServerTrustEvaluator``).
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
                session: .carrying(configuration, delegate: table),
                connections: configuration.connections,
                ownFields: OwnFields(configuration)
            )
            let engine = HTTPEngine(
                transport: URLSessionTransport(session: session),
                configuration: configuration,
                queue: queue,
                retryQueue: queue
            )
            current = Lock(engine)
            super.init()
        }

        /// The engine above URLSession.
        public var engine: HTTPEngine<URLSessionTransport> { current.withLock { $0 } }

        /// Fetches a resource and collects its body. Cancelling the task cancels the fetch.
        ///
        /// - Parameter resource: What to fetch.
        /// - Returns: The body and its response.
        /// - Throws: Why the fetch failed, as an ``/NetworkStack/HTTPFetchError``; ``/NetworkStack/HTTPFetchError/cancelled`` if
        ///   the task was cancelled.
        public func fetch(resource: URLSessionResource) async throws(URLSessionError) -> Network.Value<Data, Response> {
            try await engine.fetch(resource)
        }

        /// Fetches a resource and delivers its body while it arrives. Cancelling the task cancels the fetch, as long as this waits.
        ///
        /// - Parameter resource: What to fetch.
        /// - Returns: The stream and the response, when its head has arrived.
        /// - Throws: Why there is no response, as ``/NetworkStack/HTTPFetchError`` has it. A failure after the head is thrown by
        ///   the stream.
        public func stream(
            resource: URLSessionResource
        ) async throws(URLSessionError) -> Network.Value<ByteStream<URLSessionError>, Response> {
            try await engine.stream(resource)
        }

        /// The session that carries the fetches.
        ///
        /// It can be set once, before the first fetch of a stack that was made without a configuration; a stack without one makes a
        /// session for its first fetch. Its delegate has to be the stack, its delegate queue serial, and its header fields legal in
        /// every request; anything else is a fatal error.
        public var session: URLSession? {
            get { engine.transport.session.session }
            set {
                guard let newValue else {
                    fatalError(
                        "The session of a stack cannot be taken away. Call finishFetchesAndInvalidateSession() instead."
                    )
                }
                check(newValue)
                var configuration = configuration
                configuration.sendWithEveryRequest(newValue.takeHeaders())
                let isFirst = current.withLock { engine in
                    guard engine.transport.session.attach(newValue) else { return false }
                    if !configuration.headers.isEmpty {
                        engine = HTTPEngine(
                            transport: engine.transport,
                            configuration: configuration,
                            queue: queue,
                            retryQueue: retryQueue,
                            events: engine.events,
                            continuing: engine
                        )
                    }
                    return true
                }
                guard isFirst else {
                    fatalError("The stack has a session already, and keeps it. Make another stack for another session.")
                }
            }
        }

        /// Finishes the fetches in flight, including their redirects and retries, and then invalidates the session, which releases its
        /// delegate. Returns at once.
        ///
        /// Later fetches fail with ``/NetworkStack/HTTPFetchError/shutDown``. It may be called any number of times. If other code
        /// invalidates the session, the next fetch may crash the process. To end the fetches instead, and to wait until the session is
        /// invalid, use ``/NetworkStack/HTTPNetworkStack/shutdown()``.
        public func finishFetchesAndInvalidateSession() {
            let engine = engine
            engine.finish { engine.transport.session.end() }
        }
    }
}
