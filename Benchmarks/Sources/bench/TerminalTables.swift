import Foundation
import TextTable

/// The report as tables on the terminal: one for each workload, then what was to be reached, then what is missing.
struct TerminalTables {
    let report: Report

    func print() {
        for workload in Workload.all {
            let rows = report.rows.filter { $0.workload == workload.name && !Self.isVariant($0, in: report) }
            if rows.isEmpty { continue }
            Swift.print("\(workload.name): \(workload.title)")
            TextTable<Row> { columns($0, workload, among: rows) }.print(rows, style: Style.psql)
        }
        printTargets()
        for (client, reason) in report.missing.sorted(by: { $0.key < $1.key }) {
            Swift.print("MISSING \(client): \(reason)")
        }
        for row in report.failures {
            Swift.print(
                "NO RESULT \(row.workload) \(row.client): \(row.errors) of its fetches failed: \(row.error ?? "")"
            )
        }
    }

    /// The better variant of the floor stands in its row already.
    private static func isVariant(_ row: Row, in report: Report) -> Bool {
        report.rows.contains { $0.workload == row.workload && $0.variant == row.client }
    }

    private func columns(_ row: Row, _ workload: Workload, among rows: [Row]) -> [Column] {
        let variant = row.variant.map { " (\($0.split(separator: "-").last ?? ""))" } ?? ""
        var columns = [
            Column("client" <- row.client + variant),
            Column("CPU us/fetch" <- short(row.cpuPerFetch), align: .right),
            Column("lowest..highest" <- "\(short(row.cpuLowest))..\(short(row.cpuHighest))", align: .right),
            Column("x floor" <- text(row.cpuRatio, 2), align: .right),
            Column("x curl-stack" <- text(row.cpuRatioToOwn, 2), align: .right),
        ]
        if rows.contains(where: { $0.cpuRatioToBase != nil }) {
            columns.append(Column("x base" <- text(row.cpuRatioToBase), align: .right))
        }
        columns += [
            Column("fetches/s" <- text(row.fetchesPerSecond, (row.fetchesPerSecond ?? 0) < 100 ? 2 : 0), align: .right),
            Column("x floor's" <- text(row.throughputRatio, 2), align: .right),
            Column("p50 us" <- text(row.p50, 0), align: .right),
            Column("p90" <- text(row.p90, 0), align: .right),
            Column("p99" <- text(row.p99, 0), align: .right),
            Column("p99.9" <- text(row.p999, 0), align: .right),
            Column("peak MiB" <- text(row.rssPeak.map { Double($0) / 1_048_576 }), align: .right),
        ]
        if workload.heldCount > 0 {
            columns.append(Column("KiB/open" <- text(row.rssPerHeld.map { $0 / 1024 }), align: .right))
            columns.append(Column("x alone" <- text(row.throughputRatioToAlone, 2), align: .right))
        } else if workload.kind == .load {
            columns.append(Column("growth MiB" <- text(row.rssGrowth.map { Double($0) / 1_048_576 }), align: .right))
        }
        columns += [
            Column("conns" <- row.connections.map { "\($0)" } ?? "-", align: .right),
            Column("switches" <- text(row.voluntarySwitchesPerFetch, 2), align: .right),
        ]
        if rows.contains(where: { $0.errors > 0 }) {
            columns.append(Column("errors" <- row.errors == 0 ? "" : "\(row.errors): no result"))
        }
        return columns
    }

    private func printTargets() {
        guard !report.targets.isEmpty else { return }
        Swift.print("What is to be reached:")
        TextTable<Target.Verdict> { one in
            [
                Column("workload" <- one.workload), Column("client" <- one.client), Column("against" <- one.against),
                Column("figure" <- one.figure), Column("measured" <- text(one.measured, 2), align: .right),
                Column("must" <- text(one.must, 2), align: .right), Column("aim" <- text(one.aim, 2), align: .right),
                Column("" <- one.reachesAim == true ? "met, and the aim" : one.isMet ? "met" : "MISSED"),
            ]
        }
        .print(report.targets, style: Style.psql)
    }

    private func text(_ value: Double?, _ digits: Int = 1) -> String {
        value.map { String(format: "%.\(digits)f", $0) } ?? "-"
    }

    private func short(_ value: Double?) -> String { text(value, (value ?? 0) < 100 ? 1 : 0) }

    private func text(_ spread: Spread?) -> String {
        spread.map { String(format: "%.3f (%.2f..%.2f)", $0.median, $0.lowest, $0.highest) } ?? "-"
    }
}
