import Foundation
import Histogram

/// One client in one workload, over all rounds: medians, their spread, and the ratio to the floor.
struct Row: Codable {
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
    }

    /// Sums the rounds up. A run with errors is no result: it leaves the figures empty.
    ///
    /// - Parameters:
    ///   - workload: The workload.
    ///   - client: The client's name.
    ///   - samples: What each round came to.
    ///   - floor: The same rounds of what is compared with; the ratio is the median of the rounds' ratios.
    init(_ workload: Workload, client: String, samples: [Sample], floor: [Sample]?) {
        self.workload = workload.name
        self.client = client
        rounds = samples.count
        fetches = samples.reduce(0) { $0 + $1.fetches }
        errors = samples.reduce(0) { $0 + $1.errors }
        error = samples.lazy.compactMap(\.error).first { !$0.isEmpty }
        guard errors == 0, !samples.isEmpty, fetches > 0 else { return }

        let cpu = samples.map(\.cpuPerFetch)
        (cpuPerFetch, cpuLowest, cpuHighest) = (Self.median(cpu), cpu.min(), cpu.max())
        fetchesPerSecond = Self.median(samples.map(\.throughput))
        rssPeak = samples.compactMap(\.rssPeak).max()
        rssGrowth = Self.median(samples.compactMap { one in one.rssAfter.map { Double($0 - (one.rssBefore ?? 0)) } })
            .map { Int($0) }
        if workload.heldCount > 0 {
            rssPerHeld = Self.median(
                samples.compactMap { one in one.rssHeld.map { Double($0 - (one.rssBefore ?? 0)) } }
            )
            .map { $0 / Double(workload.heldCount) }
        }
        connections = samples.compactMap(\.connections).max()
        voluntarySwitchesPerFetch = Self.median(
            samples.compactMap { one in one.voluntarySwitches.map { Double($0) / Double(one.fetches) } }
        )
        involuntarySwitchesPerFetch = Self.median(
            samples.compactMap { one in one.involuntarySwitches.map { Double($0) / Double(one.fetches) } }
        )
        if let floor, floor.count == samples.count, floor.allSatisfy({ $0.errors == 0 }) {
            cpuRatio = Self.median(zip(samples, floor).map { $0.cpuPerFetch / $1.cpuPerFetch })
            throughputRatio = Self.median(zip(samples, floor).map { $0.throughput / $1.throughput })
        }

        var histogram = Histogram<UInt64>(
            highestTrackableValue: 600_000_000_000,
            numberOfSignificantValueDigits: .three
        )
        for (value, count) in samples.lazy.compactMap(\.latencies).joined() {
            if let nanoseconds = UInt64(value) { _ = histogram.record(nanoseconds, count: count) }
        }
        guard histogram.totalCount > 0 else { return }
        func percentile(_ percent: Double) -> Double { Double(histogram.valueAtPercentile(percent)) / 1000 }
        (p50, p90, p99, p999) = (percentile(50), percentile(90), percentile(99), percentile(99.9))
    }

    static func median(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
