public import FoundationEssentials

/// When an ``EventSource`` connects again.
public struct EventReconnection: Sendable {
    /// How many connections in a row may end without an event. One more ends the source: with its failure, or with `nil` if it did
    /// not fail. At least 0.
    public var limit: Int
    /// How long to wait before connecting again, unless the server sends the field `retry`. Each further connection that brings no
    /// event waits twice as long, up to ``longestDelay``.
    public var delay: Duration
    /// The longest wait that doubling leads to. A wait that the server asks for is not shortened.
    public var longestDelay: Duration
    /// Times the waits.
    public var clock: any Clock<Duration>

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - limit: How many connections in a row may end without an event.
    ///   - delay: How long to wait before connecting again.
    ///   - longestDelay: The longest wait that doubling leads to.
    ///   - clock: Times the waits.
    public init(
        limit: Int = 10,
        delay: Duration = .seconds(3),
        longestDelay: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.limit = limit
        self.delay = delay
        self.longestDelay = longestDelay
        self.clock = clock
    }

    /// How long to wait after this many connections without an event, if the server asked for this wait. A server may ask for any
    /// number, so nothing is multiplied beyond the longest delay.
    func delay(after count: Int, retry: Duration?) -> Duration {
        var wait = retry ?? delay
        for _ in 1..<Swift.max(count, 1) {
            guard wait > .zero, wait < longestDelay else { break }
            wait = Swift.min(wait * 2, longestDelay)
        }
        return wait
    }
}

/// Server-sent events of a URL, across connections (HTML Living Standard, section 9.2).
///
/// When a response ends, or its connection fails, the source waits, and connects again with the identifier of the last event
/// (`Last-Event-ID`). A 204 or 205 ends it; so does a response that is no event stream, a status that is a failure, or a cancelled task.
public struct EventSource<Stack: HTTPNetworkStack>: AsyncSequence, Sendable where Stack.Remote == Data {
    /// An event.
    public typealias Element = ServerSentEvent
    /// The source's error: the stack's `FetchError`.
    public typealias Failure = Stack.FetchError

    fileprivate struct Connection {
        let events: ServerSentEventStream<Failure>
        let response: HTTP.Response
    }

    fileprivate struct State {
        var connection: Connection
        /// Connections in a row without an event, with the current one until it brings one.
        var eventless = 1
        var isOver = false
        var isReading = false
    }

    fileprivate let stack: Stack
    fileprivate let request: HTTP.RequestBuilder
    fileprivate let reconnection: EventReconnection?
    fileprivate let options: HTTP.Options.Change?
    fileprivate let state: Lock<State>

    /// The response of the current connection; of the last one while the source waits.
    public var response: HTTP.Response { state.withLock { $0.connection.response } }

    /// The identifier of the last event that had one.
    public var lastEventID: String? { state.withLock { $0.connection.events.lastEventID } }

    /// Returns an iterator that continues where the source stands. A source has one reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: self) }

    /// Reads event by event.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: EventSource

        /// The next event.
        ///
        /// - Parameter actor: Where the caller runs.
        /// - Returns: The event, or `nil` when the server has ended the source.
        /// - Throws: The stack's `FetchError`: the failure after which the source does not connect again;
        ///   ``HTTPFetchError/concurrentRead`` if another task reads the next event, or waits to connect again.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> ServerSentEvent? {
            try await source.next()
        }
    }
}

extension HTTPNetworkStack where Remote == Data {
    /// Connects to a source of server-sent events (`text/event-stream`), and connects again when its connection ends.
    ///
    /// - Parameters:
    ///   - url: The URL, as text or as `URL`.
    ///   - reconnects: Whether to connect again. If not, the source ends with the response.
    ///   - reconnection: When to connect again.
    ///   - options: Changes the stack's options for these requests. An idle timeout counts as a failed connection. The
    ///     stack's total timeout does not apply; one that is set here ends the source.
    /// - Returns: The source, connected. Releasing it cancels the transfer.
    /// - Throws: The stack's `FetchError` if the first connection fails; ``HTTPFetchError/undecodable(_:_:)`` with
    ///   ``NotAnEventStream`` if the response has another media type.
    public func events(
        from url: some HTTPURLConvertible,
        reconnects: Bool = true,
        reconnection: EventReconnection = .init(),
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> EventSource<Self> {
        try await events(for: .get(url), reconnects: reconnects, reconnection: reconnection, options: options)
    }

    /// Connects to a source of server-sent events with a request, as ``events(from:reconnects:reconnection:options:)`` does with a
    /// URL.
    ///
    /// - Parameters:
    ///   - request: The request: `.get(url).bearer(token)`. It is sent again for each connection. A `Last-Event-ID` in it counts
    ///     until the server sends an identifier.
    ///   - reconnects: Whether to connect again. If not, the source ends with the response.
    ///   - reconnection: When to connect again.
    ///   - options: Changes the stack's options for these requests. The stack's total timeout does not apply.
    /// - Returns: The source, connected.
    /// - Throws: What ``events(from:reconnects:reconnection:options:)`` throws.
    public func events(
        for request: HTTP.RequestBuilder,
        reconnects: Bool = true,
        reconnection: EventReconnection = .init(),
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> EventSource<Self> {
        let options: HTTP.Options.Change = { changed in
            changed.timeouts.total = nil
            options?(&changed)
        }
        let first = try await EventSource.connect(self, request, after: nil, options)
        return EventSource(
            stack: self,
            request: request,
            reconnection: reconnects ? reconnection : nil,
            options: options,
            state: Lock(.init(connection: first))
        )
    }
}

extension EventSource {
    fileprivate static func connect(
        _ stack: Stack,
        _ request: HTTP.RequestBuilder,
        after former: ServerSentEventStream<Failure>?,
        _ options: HTTP.Options.Change?
    ) async throws(Failure) -> Connection {
        var request = request.header(.accept, HTTP.MediaType.eventStream.description).header(.cacheControl, "no-store")
        if let id = former?.lastEventID {
            request = id.isEmpty ? request.without("Last-Event-ID") : request.header("Last-Event-ID", id)
        }
        let opened = try await stack.open(request, options)
        do {
            let decoding = ModelDecoding<ServerSentEventStream<Failure>, ByteStream<Failure>, Stack.Response>
                .serverSentEvents()
            let events = try decoding.decode(opened.value, opened.response)
            if let former { events.inherit(from: former) }
            return Connection(events: events, response: try stack.neutral(opened.response).get())
        } catch {
            throw error as? Failure ?? .undecodable(error, opened.response)
        }
    }

    /// The next event, or `nil` at the end.
    fileprivate func next() async throws(Failure) -> ServerSentEvent? {
        // Otherwise two readers would each open a connection.
        guard !state.withLock({ exchange(&$0.isReading, with: true) }) else { throw .concurrentRead }
        defer { state.withLock { $0.isReading = false } }
        while true {
            let (connection, isOver) = state.withLock { ($0.connection, $0.isOver) }
            if isOver { return nil }
            do {
                var events = connection.events.makeAsyncIterator()
                if let event = try await events.next() {
                    state.withLock { $0.eventless = 0 }
                    return event
                }
                guard try await connectAgain(after: nil) else { return nil }
            } catch {
                guard Self.isPassing(error), try await connectAgain(after: error) else { throw error }
            }
        }
    }

    /// Whether the connection failed, and another may not.
    private static func isPassing(_ error: Failure) -> Bool {
        error.isTransient && error.statusCode == nil && !error.isFinal
    }

    /// Connects again, unless the source is over. Throws the failure of a connection that is final.
    private func connectAgain(after error: Failure?) async throws(Failure) -> Bool {
        var error = error
        while let delay = nextDelay() {
            do { try await reconnection?.clock.sleep(for: delay.bounded) } catch { throw .cancelled }
            do {
                let former = state.withLock { $0.connection.events }
                let connection = try await Self.connect(stack, request, after: former, options)
                state.withLock { $0.connection = connection }
                return true
            } catch let failure {
                guard Self.isPassing(failure) else {
                    state.withLock { $0.isOver = true }
                    throw failure
                }
                error = failure
            }
        }
        state.withLock { $0.isOver = true }
        if let error { throw error }
        return false
    }

    /// Whether a status ends the source: the response has no body and need not have a media type.
    private static func ends(_ status: HTTP.StatusCode) -> Bool { status == .noContent || status == .resetContent }

    /// How long to wait before the next connection; `nil` if there is none.
    private func nextDelay() -> Duration? {
        guard let reconnection else { return nil }
        return state.withLock { state in
            let ended = state.connection
            guard !Self.ends(ended.response.status), state.eventless <= reconnection.limit else { return nil }
            defer { state.eventless += 1 }
            return reconnection.delay(after: state.eventless, retry: ended.events.retry)
        }
    }
}
