/// What one run of one client came to: the line its program prints.
struct Sample: Decodable {
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

    enum CodingKeys: String, CodingKey {
        case fetches, errors, error, seconds, latencies, connections
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

    /// The sample with what something else costs for each fetch, in microseconds, added to it.
    func adding(cpuPerFetch more: Double) -> Sample {
        var sum = self
        sum.cpuSeconds = (cpuSeconds ?? 0) + more * Double(fetches) / 1e6
        return sum
    }

    /// Processor time per fetch, in microseconds.
    var cpuPerFetch: Double { fetches > 0 ? (cpuSeconds ?? 0) * 1e6 / Double(fetches) : .nan }

    /// Fetches per second of wall time.
    var throughput: Double { Double(fetches) / (seconds ?? .infinity) }
}
