public import Dispatch
public import FoundationEssentials
public import NetworkStack

/// An HTTP stack that answers from memory, for an app's own tests. Code on `some HTTPNetworkStack<Data>` runs on it unchanged.
///
/// It is the real engine over a ``MockTransport``: interceptors, retries, redirects, deadlines, statuses and decoding are
/// those of every stack; only the network is missing.
///
///     let mock = try MockNetworkStack()
///     mock.answer(.GET, "/users/{id}", with: .json(#"{"name":"Ada"}"#))
///     mock.answer(.GET, "/users", inTurn: .status(.serviceUnavailable), .json("[]"))
///     …
///     mock.requests.map(\.url)  // what was asked
///
/// The answer that was given last to fit a request counts, then the file of a ``MockEndpoint``; a request that nothing fits
/// fails with ``MockError/endpointNotMocked(method:path:)``.
public final class MockNetworkStack: HTTPTransportStack {
    /// The transport: memory.
    public typealias Transport = MockTransport
    /// Requests are the neutral ones.
    public typealias Request = HTTP.Request
    /// Responses are the neutral ones.
    public typealias Response = HTTP.Response
    /// Whatever a reply fails with.
    public typealias TransportError = any Error

    /// The engine above memory. A fetch that goes to it directly knows of no ``MockEndpoint``.
    public let engine: HTTPEngine<MockTransport>

    private let files: MockFiles?
    private let makeEngine: @Sendable (MockTransport) -> HTTPEngine<MockTransport>

    /// Makes a stack that has no answers yet.
    ///
    /// - Parameters:
    ///   - configuration: How fetches are carried out, as on any stack: an app's own will do. What it says of connections,
    ///     proxies and trust makes no difference, as there are no connections.
    ///   - files: Where the files of mock endpoints are.
    ///   - clock: What delayed replies wait on, and retries if the configuration has no clock for them.
    ///   - queue: Where completions are called.
    /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` if the configuration makes no sense.
    public init(
        configuration: Network.Configuration = .init(),
        files: MockFiles? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        queue: DispatchQueue = .global()
    ) throws(Network.ConfigurationError) {
        do { try configuration.validate() } catch { throw .init(error) }
        let transport = MockTransport(book: MockBook(), clock: clock, userAgent: configuration.userAgent)
        self.files = files
        var configuration = configuration
        // There is no server that could prove itself, or not.
        configuration.serverTrust = nil
        if configuration.retryClock == nil { configuration.retryClock = clock }
        let identifiers = Lock(0)
        makeEngine = { [configuration] transport in
            HTTPEngine(
                transport: transport,
                configuration: configuration,
                queue: queue,
                retryQueue: queue,
                lastIdentifier: identifiers
            )
        }
        engine = makeEngine(transport)
    }

    /// Answers requests that a closure knows.
    ///
    /// - Parameter reply: Makes the reply to a request, or `nil` to leave it to earlier answers. It may be called from any
    ///   thread.
    public func answer(_ reply: @escaping @Sendable (HTTP.Request) throws -> MockReply?) {
        engine.transport.book.add(reply)
    }

    /// Answers a method and a path, always alike.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path as it goes on the wire, without query; a segment in braces, as in `/users/{id}`, fits any.
    ///   - reply: The reply.
    public func answer(_ method: HTTP.Method, _ path: String, with reply: MockReply) {
        answer { MockBook.fits($0, method, path) ? reply : nil }
    }

    /// Answers a method and a path with one reply after the other, each once; then the fetch fails with
    /// ``MockError/sequenceExhausted(method:path:)``.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path as it goes on the wire, without query; a segment in braces, as in `/users/{id}`, fits any.
    ///   - replies: The replies, in order.
    public func answer(_ method: HTTP.Method, _ path: String, inTurn replies: MockReply...) {
        let left = Lock(replies[...])
        answer { request in
            guard MockBook.fits(request, method, path) else { return nil }
            guard let reply = left.withLock({ $0.popFirst() }) else {
                throw MockError.sequenceExhausted(method: method, path: path)
            }
            return reply
        }
    }

    /// The requests that arrived so far, in order, each with its content as bytes. A redirect's is among them.
    public var requests: [HTTP.Request] { engine.transport.book.requests }

    /// Forgets the requests that arrived so far.
    public func forgetRequests() { engine.transport.book.forgetRequests() }

    /// Fetches a resource.
    ///
    /// - Parameters:
    ///   - resource: What to fetch. One that was made of a ``MockEndpoint`` may be answered from its file.
    ///   - completion: Called exactly once, after this function has returned.
    /// - Returns: Cancels the fetch.
    @discardableResult
    public func fetch(resource: Resource, completion: @escaping Completion<Data>) -> any Cancelable {
        guard let files, let endpoint = resource.baseRequestMaking.endpoint as? any MockEndpoint else {
            return engine.fetch(resource, completion: completion)
        }
        var transport = engine.transport
        transport.fallback = { _ in try files.reply(for: endpoint) }
        return makeEngine(transport).fetch(resource, completion: completion)
    }
}
