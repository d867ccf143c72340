/// When the steps of a hop began, as its phases show. A failure that the engine decides has its metrics from here.
struct HopMarks {
    private var queued: MonotonicTime
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
