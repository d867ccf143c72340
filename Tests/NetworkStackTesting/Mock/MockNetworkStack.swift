public import Dispatch
public import FoundationEssentials
public import NetworkStack

/// An HTTP stack that answers from memory, for an app's tests. Code on `some HTTPNetworkStack<Data>` runs on it unchanged.
///
/// It is the real engine over a ``MockTransport``: interceptors, retries, redirects, timeouts, statuses and decoding are those of
/// every stack. What a transport does is missing: content codings, the framing of bodies, limits of heads, most fields that a
/// transport adds, and connections.
///
///     let mock = try MockNetworkStack()
///     mock.answer(.GET, "/users/{id}", with: .json(#"{"name":"Ada"}"#))
///     mock.answer(.GET, "/users", inTurn: .status(.serviceUnavailable), .json("[]"))
///     …
///     mock.requests.map(\.url)  // the requests
///
/// The latest answer that matches a request counts, then the file of a ``MockEndpoint``. A request without an answer fails with
/// ``MockError/endpointNotMocked(method:path:)``.
public final class MockNetworkStack: HTTPTransportStack {
    /// The transport of the stack.
    public typealias Transport = MockTransport
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response
    /// The error of a reply.
    public typealias TransportError = any Error

    /// The engine above the transport. Fetches that call it directly do not use files of a ``MockEndpoint``.
    public let engine: HTTPEngine<MockTransport>

    private let files: MockFiles?

    /// Makes a stack without answers.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, such as the app's. Settings of connections, proxies and trust have no effect.
    ///   - files: The location of the files of mock endpoints.
    ///   - clock: The clock for delayed replies, and for retries if the configuration has none.
    ///   - queue: The queue on which completions run.
    /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` if the configuration contradicts itself.
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
        // There is no server to verify.
        configuration.serverTrust = nil
        if configuration.retryClock == nil { configuration.retryClock = clock }
        engine = HTTPEngine(
            transport: transport,
            configuration: configuration,
            queue: queue,
            retryQueue: queue,
            events: EventReporter(configuration.listeners)
        )
    }

    /// Answers requests with a closure.
    ///
    /// - Parameter reply: Returns the reply to a request, or `nil` to use earlier answers. It may be called on any thread.
    public func answer(_ reply: @escaping @Sendable (HTTP.Request) throws -> MockReply?) {
        engine.transport.book.add(reply)
    }

    /// Answers a method and a path, always with the same reply.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path as sent, without query. A segment in braces, as in `/users/{id}`, matches any segment.
    ///   - reply: The reply.
    public func answer(_ method: HTTP.Method, _ path: String, with reply: MockReply) {
        answer { MockBook.fits($0, method, path) ? reply : nil }
    }

    /// Answers a method and a path with several replies in order, each once; then fetches fail with
    /// ``MockError/sequenceExhausted(method:path:)``.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path as sent, without query. A segment in braces, as in `/users/{id}`, matches any segment.
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

    /// The requests so far, in order, each with its body as bytes. Requests after redirects are included.
    public var requests: [HTTP.Request] { engine.transport.book.requests }

    /// Empties ``requests``.
    public func forgetRequests() { engine.transport.book.forgetRequests() }

    /// Fetches a resource.
    ///
    /// - Parameters:
    ///   - resource: What to fetch. A resource of a ``MockEndpoint`` may be answered from its file.
    ///   - completion: Called exactly once, after this function has returned.
    /// - Returns: Cancels the fetch.
    @discardableResult
    public func fetch(resource: Resource, completion: @escaping Completion<Data>) -> any Cancelable {
        engine(for: resource).fetch(resource, completion: completion)
    }

    /// Fetches a resource and delivers its body as a stream.
    ///
    /// - Parameters:
    ///   - resource: What to fetch. One that was made of a ``MockEndpoint`` may be answered from its file.
    ///   - completion: Called exactly once, after this function has returned.
    /// - Returns: Cancels the fetch, and the stream after it.
    @discardableResult
    public func stream(
        resource: Resource,
        completion: @escaping Completion<ByteStream<FetchError>>
    ) -> any Cancelable { engine(for: resource).stream(resource, completion: completion) }

    /// The engine, or one that can answer from the file of the resource's endpoint.
    private func engine(for resource: Resource) -> HTTPEngine<MockTransport> {
        guard let files, let endpoint = resource.baseRequestMaking.endpoint as? any MockEndpoint else { return engine }
        var transport = engine.transport
        transport.fallback = { _ in try files.reply(for: endpoint) }
        return HTTPEngine(transport: transport, sharing: engine)
    }
}
