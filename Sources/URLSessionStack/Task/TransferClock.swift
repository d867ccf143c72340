internal import NetworkStack

/// The moments at which a transfer reached its phases.
struct TransferClock {
    var queued: ContinuousClock.Instant?
    var started: ContinuousClock.Instant?
    var firstByte: ContinuousClock.Instant?

    var metrics: HTTP.Metrics {
        var metrics = HTTP.Metrics()
        if let queued, let started { metrics.queue = started - queued }
        if let started, let firstByte { metrics.firstByte = firstByte - started }
        return metrics
    }
}
