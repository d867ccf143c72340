/// One client in one workload, over all rounds: medians, their spread, and the ratios to what it is compared with.
struct Row: Codable, Sendable {
    var workload: String
    var client: String
    var cpuPerFetch: Double?
    var cpuLowest: Double?
    var cpuHighest: Double?
    var fetchesPerSecond: Double?
    var p50: Double?
    var p90: Double?
    var p99: Double?
    var p999: Double?
    var rssPeak: Int?
    var rssGrowth: Int?
    var rssPerHeld: Double?
    var connections: Int?
    var voluntarySwitchesPerFetch: Double?
    var involuntarySwitchesPerFetch: Double?
    var cpuRatio: Double?
    var throughputRatio: Double?
    var p50Ratio: Double?
    var cpuRatioToOwn: Double?
    var throughputRatioToAlone: Double?
    /// Processor time against the same client of another revision.
    var cpuRatioToBase: Spread?
    var rounds: Int
    var fetches: Int
    var errors: Int
    var error: String?
    var variant: String?

    enum CodingKeys: String, CodingKey {
        case workload, client, rounds, fetches, errors, error, connections, variant
        case cpuPerFetch = "cpu_us_per_fetch"
        case cpuLowest = "cpu_us_lowest"
        case cpuHighest = "cpu_us_highest"
        case fetchesPerSecond = "fetches_per_s"
        case p50 = "p50_us"
        case p90 = "p90_us"
        case p99 = "p99_us"
        case p999 = "p999_us"
        case rssPeak = "peak_rss_bytes"
        case rssGrowth = "rss_growth_bytes"
        case rssPerHeld = "rss_bytes_per_open_response"
        case voluntarySwitchesPerFetch = "voluntary_switches_per_fetch"
        case involuntarySwitchesPerFetch = "involuntary_switches_per_fetch"
        case cpuRatio = "cpu_ratio_to_floor"
        case throughputRatio = "throughput_ratio_to_floor"
        case p50Ratio = "p50_ratio_to_floor"
        case cpuRatioToOwn = "cpu_ratio_to_curl_stack"
        case throughputRatioToAlone = "throughput_ratio_to_itself_without_open_responses"
        case cpuRatioToBase = "cpu_ratio_to_base"
    }

    /// Sums the rounds up. A run with errors is no result: it leaves the figures empty.
    ///
    /// - Parameters:
    ///   - workload: The workload.
    ///   - client: The client's name.
    ///   - samples: What each round came to.
    ///   - others: The same rounds of every client, the floor included; a ratio is the median of the rounds' ratios.
    init(_ workload: Workload, client: String, samples: [Sample], among others: [String: [Sample]]) {
        self.workload = workload.name
        self.client = client
        rounds = samples.count
        fetches = samples.reduce(0) { $0 + $1.fetches }
        errors = samples.reduce(0) { $0 + $1.errors }
        error = samples.lazy.compactMap(\.error).first { !$0.isEmpty }
        guard errors == 0, !samples.isEmpty, fetches > 0 else { return }
        func median(_ figure: (Sample) -> Double?) -> Double? { Spread(samples.compactMap(figure))?.median }

        let cpu = Spread(samples.compactMap(\.cpuPerFetch))
        (cpuPerFetch, cpuLowest, cpuHighest) = (cpu?.median, cpu?.lowest, cpu?.highest)
        fetchesPerSecond = median(\.throughput)
        rssPeak = samples.compactMap(\.rssPeak).max()
        rssGrowth = median(\.rssGrowth).map { Int($0) }
        if workload.heldCount > 0 { rssPerHeld = median(\.rssOfHeld).map { $0 / Double(workload.heldCount) } }
        connections = samples.compactMap(\.connections).max()
        voluntarySwitchesPerFetch = median(\.voluntarySwitchesPerFetch)
        involuntarySwitchesPerFetch = median(\.involuntarySwitchesPerFetch)
        throughputRatioToAlone = median(\.throughputBesideHeld)
        let percentiles = samples.map { $0.percentiles([50, 90, 99, 99.9]) }.filter { !$0.isEmpty }
        func percentile(_ index: Int) -> Double? { Spread(percentiles.map { $0[index] })?.median }
        (p50, p90, p99, p999) = (percentile(0), percentile(1), percentile(2), percentile(3))

        func sound(_ name: String) -> [Sample]? {
            others[name].flatMap { $0.contains { $0.errors > 0 } ? nil : $0 }
        }
        let floor = sound("libcurl-c")
        cpuRatio = Spread(samples, over: floor, \.cpuPerFetch)?.median
        throughputRatio = Spread(samples, over: floor, \.throughput)?.median
        p50Ratio = Spread(samples, over: floor) { $0.percentiles([50]).first }?.median
        cpuRatioToOwn = Spread(samples, over: sound("curl-stack"), \.cpuPerFetch)?.median
        cpuRatioToBase = Spread(samples, over: sound(client + "-base"), \.cpuPerFetch)
    }
}
