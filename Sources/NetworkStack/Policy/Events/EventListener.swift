/// Observes the fetches and the connections of a stack: for logs, metrics and traces (``Network/Configuration/listeners``).
///
/// Each method has a default that does nothing. For one fetch, events come in order:
///
/// - ``fetchStarted(_:)`` first.
/// - For each attempt ``attemptStarted(_:)``, when its request has been made.
/// - For each request ``queued(_:)``; then, for a new connection, name lookup, connecting and TLS, each with a start and an end;
///   ``connectionAcquired(_:connection:isReused:)``, ``requestSent(_:byteCount:)``, ``firstByteReceived(_:)``,
///   ``headReceived(_:response:)``, ``bodyReceived(_:byteCount:)``, ``connectionReleased(_:connection:)``.
/// - ``redirected(_:response:)`` or ``retryScheduled(_:after:error:)``, before the next request.
/// - Last, exactly one of ``fetchSucceeded(_:response:)``, ``fetchFailed(_:error:metrics:)`` and ``fetchCancelled(_:metrics:)``.
///
/// What does not happen has no event: a reused connection is not looked up, and a failure skips the rest. A start is always followed
/// by its end, also if the step failed. A backend reports what it can see: URLSession on Linux shows no steps of a connection.
///
/// A listener is called on a queue of the stack that runs nothing else, one event at a time. It may be slow without delaying a
/// fetch. The stack keeps up to 16,384 events that wait, besides those that it is passing on, and drops the rest
/// (``eventsDropped(_:)``). An event may come after the completion of its fetch.
///
/// A stack without listeners does no work for them.
public protocol EventListener: Sendable {
    /// Whether the listener observes what happens between the start and the end of a fetch, and connections. If no listener of a stack
    /// does, a fetch has fewer events and costs less. `true` by default.
    var observesSteps: Bool { get }

    /// A fetch has begun.
    func fetchStarted(_ event: FetchEvent)

    /// The request of an attempt has been made and is about to be sent.
    func attemptStarted(_ event: FetchEvent)

    /// A request waits for a connection.
    func queued(_ event: FetchEvent)

    /// The lookup of a host's name has begun.
    func nameLookupStarted(_ event: FetchEvent)

    /// The lookup of a host's name has ended.
    func nameLookupEnded(_ event: FetchEvent)

    /// A connection is being opened. If one address does not answer and the next is tried, this comes again.
    func connectStarted(_ event: FetchEvent)

    /// The opening of a connection has ended.
    func connectEnded(_ event: FetchEvent)

    /// TLS is being negotiated, with the server or with a proxy.
    func tlsStarted(_ event: FetchEvent)

    /// The negotiation of TLS has ended.
    func tlsEnded(_ event: FetchEvent)

    /// A request has a connection and is being sent. It comes again if the stack sends the request again by itself.
    ///
    /// - Parameters:
    ///   - event: Where the fetch is.
    ///   - connection: The connection.
    ///   - isReused: Whether it was open already.
    func connectionAcquired(_ event: FetchEvent, connection: HTTP.Connection, isReused: Bool)

    /// A request has been sent.
    ///
    /// - Parameters:
    ///   - event: Where the fetch is.
    ///   - byteCount: The length of its body, in bytes.
    func requestSent(_ event: FetchEvent, byteCount: Int64)

    /// The first byte of a response has arrived.
    func firstByteReceived(_ event: FetchEvent)

    /// An informational response (1xx) has arrived.
    func informationalReceived(_ event: FetchEvent, response: HTTP.Response)

    /// The head of a response has arrived.
    func headReceived(_ event: FetchEvent, response: HTTP.Response)

    /// The body of a response has arrived.
    ///
    /// - Parameters:
    ///   - event: Where the fetch is.
    ///   - byteCount: Its length in bytes, as received.
    func bodyReceived(_ event: FetchEvent, byteCount: Int64)

    /// A request does not use its connection any longer.
    func connectionReleased(_ event: FetchEvent, connection: HTTP.Connection)

    /// A redirect is followed. The event's request is the one that was redirected.
    func redirected(_ event: FetchEvent, response: HTTP.Response)

    /// An attempt has failed, and another follows.
    ///
    /// - Parameters:
    ///   - event: Where the fetch is.
    ///   - delay: How long the stack waits before it; `nil` for no wait.
    ///   - error: The failure.
    func retryScheduled(_ event: FetchEvent, after delay: Duration?, error: any Error)

    /// A fetch has succeeded. A stream has succeeded when its body has arrived.
    ///
    /// - Parameters:
    ///   - event: Where the fetch is.
    ///   - response: The response, with its metrics.
    func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response)

    /// A fetch has failed.
    ///
    /// - Parameters:
    ///   - event: Where the fetch is.
    ///   - error: The failure.
    ///   - metrics: What was measured until then, also where the error has no ``HTTPError/context``.
    func fetchFailed(_ event: FetchEvent, error: any HTTPError, metrics: HTTP.Metrics)

    /// A fetch was cancelled.
    ///
    /// - Parameters:
    ///   - event: Where the fetch is.
    ///   - metrics: What was measured until then.
    func fetchCancelled(_ event: FetchEvent, metrics: HTTP.Metrics)

    /// A connection was opened. Only CurlStack reports this.
    func connectionOpened(_ connection: HTTP.Connection, at time: ContinuousClock.Instant)

    /// A connection was closed. Only CurlStack reports this.
    func connectionClosed(
        _ connection: HTTP.Connection,
        reason: HTTP.Connection.CloseReason,
        at time: ContinuousClock.Instant
    )

    /// The stack was made, and the library below it has published vulnerabilities. This comes once, before all other events.
    ///
    /// - Parameter advisories: The vulnerabilities, at least one (``HTTP/Capabilities/advisories``).
    func advisoriesFound(_ advisories: [HTTP.Advisory])

    /// The files of certificates and keys were read again. Only CurlStack reports this.
    ///
    /// - Parameter error: Why the former certificates stay in use; `nil` if new connections use the new ones.
    func certificatesReloaded(error: (any Error)?)

    /// Listeners were too slow, and this many events were discarded before the next one.
    func eventsDropped(_ count: Int)
}

extension EventListener {
    /// `true`.
    public var observesSteps: Bool { true }
    /// Does nothing.
    public func fetchStarted(_ event: FetchEvent) {}
    /// Does nothing.
    public func attemptStarted(_ event: FetchEvent) {}
    /// Does nothing.
    public func queued(_ event: FetchEvent) {}
    /// Does nothing.
    public func nameLookupStarted(_ event: FetchEvent) {}
    /// Does nothing.
    public func nameLookupEnded(_ event: FetchEvent) {}
    /// Does nothing.
    public func connectStarted(_ event: FetchEvent) {}
    /// Does nothing.
    public func connectEnded(_ event: FetchEvent) {}
    /// Does nothing.
    public func tlsStarted(_ event: FetchEvent) {}
    /// Does nothing.
    public func tlsEnded(_ event: FetchEvent) {}
    /// Does nothing.
    public func connectionAcquired(_ event: FetchEvent, connection: HTTP.Connection, isReused: Bool) {}
    /// Does nothing.
    public func requestSent(_ event: FetchEvent, byteCount: Int64) {}
    /// Does nothing.
    public func firstByteReceived(_ event: FetchEvent) {}
    /// Does nothing.
    public func informationalReceived(_ event: FetchEvent, response: HTTP.Response) {}
    /// Does nothing.
    public func headReceived(_ event: FetchEvent, response: HTTP.Response) {}
    /// Does nothing.
    public func bodyReceived(_ event: FetchEvent, byteCount: Int64) {}
    /// Does nothing.
    public func connectionReleased(_ event: FetchEvent, connection: HTTP.Connection) {}
    /// Does nothing.
    public func redirected(_ event: FetchEvent, response: HTTP.Response) {}
    /// Does nothing.
    public func retryScheduled(_ event: FetchEvent, after delay: Duration?, error: any Error) {}
    /// Does nothing.
    public func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) {}
    /// Does nothing.
    public func fetchFailed(_ event: FetchEvent, error: any HTTPError, metrics: HTTP.Metrics) {}
    /// Does nothing.
    public func fetchCancelled(_ event: FetchEvent, metrics: HTTP.Metrics) {}
    /// Does nothing.
    public func connectionOpened(_ connection: HTTP.Connection, at time: ContinuousClock.Instant) {}
    /// Does nothing.
    public func connectionClosed(
        _ connection: HTTP.Connection,
        reason: HTTP.Connection.CloseReason,
        at time: ContinuousClock.Instant
    ) {}
    /// Does nothing.
    public func advisoriesFound(_ advisories: [HTTP.Advisory]) {}
    /// Does nothing.
    public func certificatesReloaded(error: (any Error)?) {}
    /// Does nothing.
    public func eventsDropped(_ count: Int) {}
}
