import Foundation
import TextTable

/// All rows of a run, with the machine they were measured on and what could not be measured.
struct Report: Codable {
    /// The machine and the versions of what took part.
    var machine: [String: String]
    /// When and how it was measured.
    var effort: [String: String]
    var rows: [Row]
    /// Clients that were asked for and could not be had, with the reason.
    var missing: [String: String]
    /// Places in a workload that a client declined, with the reason.
    var declined: [String: String]

    /// The floor of a workload: the better one of the two variants, by processor time.
    static func floor(of samples: [String: [Sample]]) -> (variant: String, samples: [Sample])? {
        ["libcurl-c-poll", "libcurl-c-epoll"]
            .compactMap { name in
                samples[name].flatMap { $0.allSatisfy { $0.errors == 0 } ? (name, $0) : nil }
            }
            .min { left, right in
                (Row.median(left.1.map(\.cpuPerFetch)) ?? .infinity)
                    < (Row.median(right.1.map(\.cpuPerFetch)) ?? .infinity)
            }
    }

    /// Adds a workload's rows, in the order of the clients.
    mutating func add(_ workload: Workload, _ samples: [String: [Sample]], order: [String]) {
        var floor = Self.floor(of: samples)
        // The floor does not decode; what decoding costs by itself is added to it.
        if workload.decodes, let plain = floor,
            let decoding = Row.median((samples["decode-only"] ?? []).map(\.cpuPerFetch))
        {
            floor = (plain.variant, plain.samples.map { $0.adding(cpuPerFetch: decoding) })
        }
        if let floor {
            var row = Row(workload, client: "libcurl-c", samples: floor.samples, floor: floor.samples)
            row.variant = floor.variant
            rows.append(row)
        }
        for name in order {
            guard let own = samples[name] else { continue }
            rows.append(Row(workload, client: name, samples: own, floor: floor?.samples))
        }
    }

    /// Writes the report and the page beside it.
    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: folder.appending(path: "report.json"))
        try Data(ResultsPage(report: self).html.utf8).write(to: folder.appending(path: "report.html"))
    }

    // MARK: On the terminal

    /// A table for each workload, and what is missing.
    func printTables() {
        for workload in Workload.all {
            let rows = rows.filter { $0.workload == workload.name }
            if rows.isEmpty { continue }
            print("\n\(workload.name): \(workload.title)")
            let table = TextTable<Row> { row in
                [
                    Column(
                        "client" <- row.client + (row.variant.map { " (\($0.split(separator: "-").last ?? ""))" } ?? "")
                    ),
                    Column("CPU us/fetch" <- Self.text(row.cpuPerFetch), align: .right),
                    Column(
                        "lowest..highest" <- "\(Self.text(row.cpuLowest))..\(Self.text(row.cpuHighest))",
                        align: .right
                    ),
                    Column("x floor" <- row.cpuRatio.map { String(format: "%.2f", $0) } ?? "-", align: .right),
                    Column("fetches/s" <- Self.text(row.fetchesPerSecond, digits: 0), align: .right),
                    Column("p50 us" <- Self.text(row.p50, digits: 0), align: .right),
                    Column("p99 us" <- Self.text(row.p99, digits: 0), align: .right),
                    Column("p99.9 us" <- Self.text(row.p999, digits: 0), align: .right),
                    Column("peak MiB" <- Self.text(row.rssPeak.map { Double($0) / 1_048_576 }), align: .right),
                    Column("connections" <- row.connections.map { "\($0)" } ?? "-", align: .right),
                    Column("switches" <- Self.text(row.voluntarySwitchesPerFetch, digits: 2), align: .right),
                    Column("errors" <- row.errors == 0 ? "" : "\(row.errors): \((row.error ?? "").prefix(60))"),
                ]
            }
            table.print(rows, style: Style.psql)
        }
        for (client, reason) in missing.sorted(by: { $0.key < $1.key }) { print("MISSING \(client): \(reason)") }
    }

    private static func text(_ value: Double?, digits: Int = 1) -> String {
        value.map { String(format: "%.\(digits)f", $0) } ?? "-"
    }
}
