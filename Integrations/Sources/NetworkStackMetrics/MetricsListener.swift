public import CoreMetrics
public import NetworkStack
internal import SemanticConventions
internal import Synchronization

/// Measures the requests and connections of a stack with swift-metrics. Add it to the configuration's listeners.
///
///     configuration.listeners.append(MetricsListener())
///
/// Names and labels are those of OpenTelemetry's semantic conventions for HTTP clients; metrics of connections name no server:
///
/// | metric | type | what |
/// |---|---|---|
/// | `http.client.request.duration` | timer | each request, redirects and failed attempts included, from its wait for a connection to its end |
/// | `http.client.request.body.size` | recorder | bytes of a request's body, unless it has none |
/// | `http.client.response.body.size` | recorder | bytes of a response's body as received, unless it has none |
/// | `http.client.active_requests` | meter | requests that have begun and not ended, queued ones included |
/// | `http.client.open_connections` | meter | connections, by `http.connection.state` (`active`, `idle`) |
/// | `http.client.connection.duration` | timer | each connection, from its opening to its end |
/// | `network_stack.events.dropped` | counter | events that the stack discarded, because listeners were too slow |
///
/// Requests have the labels `http.request.method` (a registered method or `_OTHER`), `http.response.status_code`,
/// `network.protocol.version`, `error.type` (a status of 400 or more, or the name of the error's case, with the kind of a transport
/// failure: `transport.connect`) and, for a limited number of
/// servers, `server.address` and `server.port`. There are no URLs and no header fields. Metrics of connections come from CurlStack
/// only.
///
/// After events were discarded, meters count from zero again.
public final class MetricsListener: EventListener {
    /// A request that has begun and not ended.
    fileprivate struct Running {
        let began: ContinuousClock.Instant
        /// The labels of a request that is active.
        let active: Labels
        var labels: Labels
        var sent: Int64 = 0

        init(_ event: FetchEvent, _ labels: Labels) {
            (began, active, self.labels) = (event.time, labels, labels)
        }
    }

    fileprivate struct State {
        var instruments: Instruments
        /// By the number of their fetch, which has one request at a time.
        var requests: [Int: Running] = [:]
        var active: [Labels: Int] = [:]
        var servers: Set<ServerLabel> = []
        /// When each connection was opened, and how many requests use it.
        var connections: [Int: (openedAt: ContinuousClock.Instant, uses: Int)] = [:]
        var usedConnections = 0
    }

    private let servers: Int
    private let state: Mutex<State>

    /// Makes a listener.
    ///
    /// - Parameters:
    ///   - factory: Makes the metrics.
    ///   - servers: The most servers that have labels, each a host and a port. Further ones share the address `_OTHER`. With 0 there
    ///     are no labels of servers.
    public init(factory: any MetricsFactory = MetricsSystem.factory, servers: Int = 20) {
        self.servers = servers
        state = Mutex(State(instruments: Instruments(factory)))
    }

    // MARK: Requests

    /// Begins to measure a request.
    public func queued(_ event: FetchEvent) {
        state.withLock { state in
            let labels = Labels(
                method: event.request?.method.attribute ?? otherValue,
                server: event.request.flatMap { state.label(of: $0, limit: servers) }
            )
            state.requests[event.fetch] = Running(event, labels)
            state.count(labels, 1)
        }
    }

    /// Notes the size of a request's body.
    public func requestSent(_ event: FetchEvent, byteCount: Int64) {
        state.withLock { $0.requests[event.fetch]?.sent = byteCount }
    }

    /// Notes a response's status.
    public func headReceived(_ event: FetchEvent, response: HTTP.Response) {
        state.withLock { state in
            state.requests[event.fetch]?.labels.status = response.status.rawValue
            state.requests[event.fetch]?.labels.version = response.version.attribute
            state.requests[event.fetch]?.labels.errorType = response.status.errorType
        }
    }

    /// Measures a request.
    public func bodyReceived(_ event: FetchEvent, byteCount: Int64) { end(event, received: byteCount) }

    /// Measures a request whose response was not read to the end.
    public func redirected(_ event: FetchEvent, response: HTTP.Response) { end(event) }

    /// Measures a request that failed.
    public func retryScheduled(_ event: FetchEvent, after delay: Duration?, error: any Error) {
        end(event, error: (error as? any HTTPError)?.errorType)
    }

    /// Measures a request that has not ended yet. One without a response has failed, and an interceptor has replaced its failure:
    /// its `error.type` is `_OTHER`.
    public func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) {
        let hasResponse = state.withLock { $0.requests[event.fetch]?.labels.status != nil }
        end(event, error: hasResponse ? nil : "_OTHER")
    }

    /// Measures a request that failed.
    public func fetchFailed(_ event: FetchEvent, error: any HTTPError, metrics: HTTP.Metrics) {
        end(event, error: error.errorType)
    }

    /// Measures a request that was cancelled; its `error.type` is `cancelled`.
    public func fetchCancelled(_ event: FetchEvent, metrics: HTTP.Metrics) { end(event, error: "cancelled") }

    private func end(_ event: FetchEvent, received: Int64 = 0, error: String? = nil) {
        state.withLock { state in
            guard var ended = state.requests.removeValue(forKey: event.fetch) else { return }
            state.count(ended.active, -1)
            if let error { ended.labels.errorType = error }
            let duration = event.time - ended.began
            state.instruments.requestEnded(ended.labels, after: duration, sent: ended.sent, received: received)
        }
    }

    // MARK: Connections

    /// Counts a connection.
    public func connectionOpened(_ connection: HTTP.Connection, at time: ContinuousClock.Instant) {
        state.withLock { state in
            state.connections[connection.id] = (time, 0)
            state.reportConnections()
        }
    }

    /// Counts a connection as active.
    public func connectionAcquired(_ event: FetchEvent, connection: HTTP.Connection, isReused: Bool) {
        state.withLock { $0.use(connection, 1) }
    }

    /// Counts a connection as idle, unless another request uses it.
    public func connectionReleased(_ event: FetchEvent, connection: HTTP.Connection) {
        state.withLock { $0.use(connection, -1) }
    }

    /// Measures a connection.
    public func connectionClosed(
        _ connection: HTTP.Connection,
        reason: HTTP.Connection.CloseReason,
        at time: ContinuousClock.Instant
    ) {
        state.withLock { state in
            guard let closed = state.connections.removeValue(forKey: connection.id) else { return }
            if closed.uses > 0 { state.usedConnections -= 1 }
            state.instruments.connectionClosed(after: time - closed.openedAt)
            state.reportConnections()
        }
    }

    /// Counts the discarded events. The ends of what was measured may be among them, so all that is forgotten.
    public func eventsDropped(_ count: Int) {
        state.withLock { state in
            state.instruments.eventsDropped(count)
            for labels in state.active.keys { state.instruments.setActiveRequests(0, labels) }
            (state.requests, state.active, state.connections, state.usedConnections) = ([:], [:], [:], 0)
            state.reportConnections()
        }
    }
}

extension MetricsListener.State {
    fileprivate mutating func count(_ labels: Labels, _ change: Int) {
        active[labels, default: 0] += change
        instruments.setActiveRequests(active[labels] ?? 0, labels)
    }

    fileprivate mutating func label(of request: HTTP.Request, limit: Int) -> ServerLabel? {
        guard limit > 0, let origin = try? HTTP.Origin(of: request.url) else { return nil }
        let server = ServerLabel.named(host: origin.host, port: origin.port)
        if servers.count < limit { servers.insert(server) }
        return servers.contains(server) ? server : .other
    }

    fileprivate mutating func use(_ connection: HTTP.Connection, _ change: Int) {
        guard var used = connections[connection.id] else { return }
        let wasUsed = used.uses > 0
        used.uses += change
        connections[connection.id] = used
        usedConnections += (used.uses > 0 ? 1 : 0) - (wasUsed ? 1 : 0)
        reportConnections()
    }

    fileprivate func reportConnections() {
        instruments.setOpenConnections(active: usedConnections, idle: connections.count - usedConnections)
    }
}
