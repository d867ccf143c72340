internal import FoundationEssentials

/// One hop under way: its request, what steers it, and what came of its response. It changes under the lock of its fetch only.
final class Hop {
    let number: Int
    let request: HTTP.Request
    /// The fragment of the request's URL, which is not sent.
    let fragment: String?
    var source: (any HTTPBodySource)?
    var transfer: (any HTTPTransfer)?
    /// Whether to resume the transfer as soon as it is known.
    var resumesSending = false
    var resumesReceiving = false
    var head: HTTP.Response?
    /// Whether the status of the head is a failure.
    var fails = false
    /// Where the head redirects to.
    var next: HTTP.Request?
    var body = Data()
    /// The connection that carries it.
    var connection: ConnectionUse?
    /// The bytes of the request's body that were sent.
    var sent: Int64 = 0
    /// The bytes of the response's body that the transport has delivered, and those that it withholds or has withheld.
    var delivered: Int64 = 0
    var withheld: Int64 = 0

    init(_ number: Int, _ request: HTTP.Request, fragment: String?, source: (any HTTPBodySource)?) {
        self.number = number
        self.request = request
        self.fragment = fragment
        self.source = source
    }

    /// The bytes of the response's body that have come.
    var received: Int64 { max(delivered, withheld) }
    /// How long the body of the request is, if that is known.
    var contentLength: Int64? { source.map(\.length) ?? request.body.length }
}

/// When the steps of a hop began, as its phases show. A failure that the engine decides has its metrics from here.
struct HopMarks {
    /// When the hop began.
    let queued: MonotonicTime
    private var started: MonotonicTime?
    private var connecting: MonotonicTime?
    private var securing: MonotonicTime?
    private var sending: MonotonicTime?
    private var sent: MonotonicTime?
    private var receiving: MonotonicTime?
    private var resolves = false
    private var phase = HTTP.Phase.queued

    init(queuedAt time: MonotonicTime) { queued = time }

    /// A phase begins. A hop that starts over on another connection has the times of the last one.
    mutating func entered(_ phase: HTTP.Phase, after last: HTTP.Phase, now: MonotonicTime) {
        if last == .queued { started = now }
        if phase != .settling { self.phase = phase }
        switch phase {
        case .resolving: (resolves, connecting, securing, sending, sent) = (true, nil, nil, nil, nil)
        case .connecting: (connecting, securing, sending, sent) = (now, nil, nil, nil)
        case .securing: (securing, sending, sent) = (now, nil, nil)
        case .sending: (sending, sent) = (sending ?? now, nil)
        case .waiting: (sending, sent) = (sending ?? now, now)
        case .receiving: receiving = now
        case .queued where last == .sending: started = nil
        case .making, .queued, .settling, .delayed: break
        }
    }

    /// Adds what was reached until now and the transport has not measured. Times count from the end of the wait for a connection.
    func complete(_ metrics: inout HTTP.Metrics, now: MonotonicTime) {
        metrics.queue = metrics.queue ?? (started ?? now) - queued
        guard let started else { return }
        if resolves { metrics.resolved = metrics.resolved ?? connecting.map { $0 - started } }
        if connecting != nil { metrics.connected = metrics.connected ?? (securing ?? sending).map { $0 - started } }
        if securing != nil { metrics.secured = metrics.secured ?? sending.map { $0 - started } }
        metrics.firstByte = metrics.firstByte ?? receiving.map { $0 - started }
        addEnd(to: &metrics, now: now)
    }

    /// Adds what only the engine measures.
    func addEnd(to metrics: inout HTTP.Metrics, now: MonotonicTime) {
        guard let started else { return }
        metrics.requestSent = sent.map { $0 - started }
        metrics.ended = now - started
        metrics.endedIn = phase
    }
}
