import Foundation

/// The report as one HTML file that needs nothing else: plots as inline SVG, tables beneath.
struct ResultsPage {
    let report: Report

    var html: String {
        let sections = Workload.all.compactMap { workload -> String? in
            let rows = report.rows.filter { $0.workload == workload.name }
            return rows.isEmpty ? nil : section(workload, rows)
        }
        let facts = (report.machine.sorted { $0.key < $1.key } + report.effort.sorted { $0.key < $1.key })
            .map { "<dt>\(escaped($0.key))</dt><dd>\(escaped($0.value))</dd>" }.joined()
        let missing = report.missing.sorted { $0.key < $1.key }
            .map { "<li><b>\(escaped($0.key))</b> is missing: \(escaped($0.value))</li>" }
        let declined = report.declined.sorted { $0.key < $1.key }
            .map { "<li><b>\(escaped($0.key))</b>: \(escaped($0.value))</li>" }
        let unmeasured = missing + declined
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>Benchmarks</title>
            <style>
            body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
            table { border-collapse: collapse; margin: .5rem 0 2rem; font-variant-numeric: tabular-nums; }
            th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid #ddd; font-size: 13px; }
            th:first-child, td:first-child { text-align: left; white-space: nowrap; }
            dl { display: grid; grid-template-columns: max-content auto; gap: 0 1rem; }
            dd { margin: 0; }
            .own { font-weight: 600; }
            figure { margin: 1rem 0; }
            figcaption { font-size: 13px; }
            svg text { font: 12px system-ui, sans-serif; }
            @media (prefers-color-scheme: dark) { body { background: #1b1b1d; color: #ddd; } svg text:not([fill]) { fill: #ddd; } }
            </style>
            </head>
            <body>
            <h1>Benchmarks</h1>
            <p>Medians over interleaved rounds. Processor time is user and system time of the client's process. "x floor" is the
            median of each round's ratio to the better one of two C programs on libcurl's multi interface, "x curl-stack" of
            that to this library's stack. A client whose fetches failed has no figures, and says why.</p>
            <dl>\(facts)</dl>
            \(Plots.levels(report.rows))
            \(targets)
            \(sections.joined(separator: "\n"))
            \(unmeasured.isEmpty ? "" : "<h2>Not measured</h2><ul>\(unmeasured.joined(separator: "\n"))</ul>")
            </body>
            </html>

            """
    }

    private func section(_ workload: Workload, _ rows: [Row]) -> String {
        let head = [
            "client", "CPU us/fetch", "x floor", "x curl-stack", "fetches/s", "p50 us", "p90 us", "p99 us", "p99.9 us",
            "peak MiB",
            "growth MiB", "KiB/open response", "connections", "switches/fetch", "errors",
        ]
        let lines = rows.map { row in
            let cells = [
                escaped(row.client), text(row.cpuPerFetch), text(row.cpuRatio, 2),
                text(row.cpuRatioToOwn, 2), text(row.fetchesPerSecond, (row.fetchesPerSecond ?? 0) < 100 ? 2 : 0),
                text(row.p50, 0), text(row.p90, 0), text(row.p99, 0), text(row.p999, 0),
                text(row.rssPeak.map { Double($0) / 1_048_576 }), text(row.rssGrowth.map { Double($0) / 1_048_576 }),
                text(row.rssPerHeld.map { $0 / 1024 }),
                row.connections.map { "\($0)" } ?? "", text(row.voluntarySwitchesPerFetch, 2),
                row.errors == 0 ? "0" : "\(row.errors): \(escaped(row.error ?? ""))",
            ]
            return
                "<tr class=\"\(row.client.hasPrefix("curl-stack") ? "own" : "")\"><td>\(cells.joined(separator: "</td><td>"))</td></tr>"
        }
        return """
            <h2 id="\(workload.name)">\(escaped(workload.title)) <small>(\(workload.name))</small></h2>
            \(Plots.bars(rows))
            \(Plots.latencies(rows))
            <table><tr><th>\(head.joined(separator: "</th><th>"))</th></tr>\(lines.joined(separator: "\n"))</table>
            """
    }

    private var targets: String {
        guard !report.targets.isEmpty else { return "" }
        let lines = report.targets.map { one in
            let cells = [
                one.workload, one.client, one.against, one.figure, text(one.measured, 2), text(one.must, 2),
                text(one.aim, 2),
                one.reachesAim == true ? "met, and the aim" : one.isMet ? "met" : "<b>missed</b>",
            ]
            return "<tr><td>\(cells.joined(separator: "</td><td>"))</td></tr>"
        }
        return """
            <h2 id="targets">What is to be reached</h2>
            <table><tr><th>workload</th><th>client</th><th>against</th><th>figure</th><th>measured</th><th>must</th><th>aim</th>
            <th></th></tr>\(lines.joined(separator: "\n"))</table>
            """
    }

    private func text(_ value: Double?, _ digits: Int = 1) -> String {
        value.map { String(format: "%.\(digits)f", $0) } ?? ""
    }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }
}
