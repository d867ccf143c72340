import Histogram

/// What one run of one client came to: the line its program prints.
struct Sample: Decodable, Sendable {
    var fetches: Int
    var errors: Int
    var error: String?
    var seconds: Double?
    var cpuSeconds: Double?
    var voluntarySwitches: Int?
    var involuntarySwitches: Int?
    var rssBefore: Int?
    var rssHeld: Int?
    var rssAfter: Int?
    var rssPeak: Int?
    /// Nanoseconds and how often.
    var latencies: [String: UInt64]?
    /// Connections the server took meanwhile, if it counts them.
    var connections: Int?
    /// Fetches per second of the same client a moment before, without the responses that are held open.
    var throughputAlone: Double?

    enum CodingKeys: String, CodingKey {
        case fetches, errors, error, seconds, latencies
        case cpuSeconds = "cpu_seconds"
        case voluntarySwitches = "voluntary_switches"
        case involuntarySwitches = "involuntary_switches"
        case rssBefore = "rss_before"
        case rssHeld = "rss_held"
        case rssAfter = "rss_after"
        case rssPeak = "rss_peak"
    }

    init(failure: String) {
        fetches = 0
        errors = 1
        error = failure
    }

    init(fetches: Int, seconds: Double, cpuSeconds: Double) {
        self.fetches = fetches
        self.seconds = seconds
        self.cpuSeconds = cpuSeconds
        errors = 0
    }

    // MARK: Figures

    /// Processor time per fetch, in microseconds.
    var cpuPerFetch: Double? { cpuSeconds.flatMap { fetches > 0 ? $0 * 1e6 / Double(fetches) : nil } }

    /// Fetches per second of wall time.
    var throughput: Double? { seconds.flatMap { $0 > 0 ? Double(fetches) / $0 : nil } }

    /// How much more memory is resident at the end of the measured part than at its beginning, in bytes.
    var rssGrowth: Double? { difference(rssAfter, rssBefore) }

    /// How much more memory is resident with the held responses than without, in bytes.
    var rssOfHeld: Double? { difference(rssHeld, rssBefore) }

    /// The throughput, against the same client's without the held responses.
    var throughputBesideHeld: Double? {
        throughputAlone.flatMap { alone in throughput.map { $0 / alone } }
    }

    var voluntarySwitchesPerFetch: Double? { perFetch(voluntarySwitches) }
    var involuntarySwitchesPerFetch: Double? { perFetch(involuntarySwitches) }

    /// The times, in microseconds, that so many percent of the fetches did not exceed; empty if no times were taken.
    func percentiles(_ percents: [Double]) -> [Double] {
        var histogram = Histogram<UInt64>(
            highestTrackableValue: 600_000_000_000,
            numberOfSignificantValueDigits: .three
        )
        for (value, count) in latencies ?? [:] {
            if let nanoseconds = UInt64(value) { _ = histogram.record(nanoseconds, count: count) }
        }
        guard histogram.totalCount > 0 else { return [] }
        return percents.map { Double(histogram.valueAtPercentile($0)) / 1000 }
    }

    private func perFetch(_ count: Int?) -> Double? {
        count.flatMap { fetches > 0 ? Double($0) / Double(fetches) : nil }
    }

    private func difference(_ left: Int?, _ right: Int?) -> Double? {
        guard let left, let right else { return nil }
        return Double(left - right)
    }
}
