internal import CoreMetrics
internal import SemanticConventions

/// A server as a label.
enum ServerLabel: Hashable {
    case named(host: String, port: Int)
    /// One beyond the limit.
    case other
}

/// The labels of a figure. Each has values of a fixed or limited set.
struct Labels: Hashable {
    var method: String
    var server: ServerLabel?
    var status: Int?
    var version: String?
    var errorType: String?

    var dimensions: [(String, String)] {
        var dimensions = [(Attribute.method, method)]
        switch server {
        case .named(let host, let port):
            dimensions += [(Attribute.serverAddress, host), (Attribute.serverPort, "\(port)")]
        case .other: dimensions.append((Attribute.serverAddress, otherValue))
        case nil: break
        }
        if let status { dimensions.append((Attribute.status, "\(status)")) }
        if let version { dimensions.append((Attribute.protocolVersion, version)) }
        if let errorType { dimensions.append((Attribute.errorType, errorType)) }
        return dimensions
    }
}

/// The metrics of one name. Each is made once, because a factory has to look it up.
struct Family<Metric> {
    let make: @Sendable ([(String, String)]) -> Metric
    private var made: [Labels: Metric] = [:]

    init(_ make: @escaping @Sendable ([(String, String)]) -> Metric) { self.make = make }

    subscript(labels: Labels) -> Metric {
        mutating get {
            if let metric = made[labels] { return metric }
            let metric = make(labels.dimensions)
            made[labels] = metric
            return metric
        }
    }
}

/// The metrics of a listener.
struct Instruments {
    private var durations: Family<CoreMetrics.Timer>
    private var requestSizes: Family<Recorder>
    private var responseSizes: Family<Recorder>
    private var activeRequests: Family<Meter>
    private let activeConnections: Meter
    private let idleConnections: Meter
    private let connectionDuration: CoreMetrics.Timer
    private let droppedEvents: Counter

    init(_ factory: any MetricsFactory) {
        let timer = { @Sendable (label: String, dimensions: [(String, String)]) in
            Timer(label: label, dimensions: dimensions, preferredDisplayUnit: .seconds, factory: factory)
        }
        durations = Family { timer("http.client.request.duration", $0) }
        requestSizes = Family {
            Recorder(label: "http.client.request.body.size", dimensions: $0, aggregate: true, factory: factory)
        }
        responseSizes = Family {
            Recorder(label: "http.client.response.body.size", dimensions: $0, aggregate: true, factory: factory)
        }
        activeRequests = Family { Meter(label: "http.client.active_requests", dimensions: $0, factory: factory) }
        let connections = { (state: String) in
            let dimensions = [(Attribute.connectionState, state)]
            return Meter(label: "http.client.open_connections", dimensions: dimensions, factory: factory)
        }
        (activeConnections, idleConnections) = (connections("active"), connections("idle"))
        connectionDuration = timer("http.client.connection.duration", [])
        droppedEvents = Counter(label: "network_stack.events.dropped", factory: factory)
    }

    /// A request has ended. A body without bytes is none.
    mutating func requestEnded(_ labels: Labels, after duration: Duration, sent: Int64, received: Int64) {
        durations[labels].recordNanoseconds(duration.nanoseconds)
        if sent > 0 { requestSizes[labels].record(sent) }
        if received > 0 { responseSizes[labels].record(received) }
    }

    mutating func setActiveRequests(_ count: Int, _ labels: Labels) { activeRequests[labels].set(count) }

    func setOpenConnections(active: Int, idle: Int) {
        activeConnections.set(active)
        idleConnections.set(idle)
    }

    func connectionClosed(after duration: Duration) { connectionDuration.recordNanoseconds(duration.nanoseconds) }

    func eventsDropped(_ count: Int) { droppedEvents.increment(by: count) }
}

extension Duration {
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
