internal import Synchronization

/// How many bytes of bodies the requests of an engine have transferred.
final class Traffic: Sendable {
    private let sent = Atomic<Int64>(0)
    private let received = Atomic<Int64>(0)

    /// A request has ended.
    func add(_ metrics: HTTP.Metrics) {
        if metrics.bytesSent > 0 { sent.add(metrics.bytesSent, ordering: .relaxed) }
        if metrics.bytesReceived > 0 { received.add(metrics.bytesReceived, ordering: .relaxed) }
    }

    /// Adds the sums to a stack's gauges.
    func report(to gauges: inout Network.Gauges) {
        gauges.bytesSent = sent.load(ordering: .relaxed)
        gauges.bytesReceived = received.load(ordering: .relaxed)
    }
}
