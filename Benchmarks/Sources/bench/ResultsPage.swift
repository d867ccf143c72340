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
            th:first-child, td:first-child { text-align: left; }
            dl { display: grid; grid-template-columns: max-content auto; gap: 0 1rem; }
            dd { margin: 0; }
            .own { font-weight: 600; }
            svg text { font: 12px system-ui, sans-serif; }
            @media (prefers-color-scheme: dark) { body { background: #1b1b1d; color: #ddd; } svg text { fill: #ddd; } }
            </style>
            </head>
            <body>
            <h1>Benchmarks</h1>
            <p>Medians over interleaved rounds; bars are processor time (user and system) of the client's process per fetch, the
            whisker spans the rounds. "x floor" is the median of each round's ratio to the better one of two C programs on
            libcurl's multi interface.</p>
            <dl>\(facts)</dl>
            \(sections.joined(separator: "\n"))
            <h2>Not measured</h2>
            <ul>\((missing + declined).joined(separator: "\n"))</ul>
            </body>
            </html>

            """
    }

    private func section(_ workload: Workload, _ rows: [Row]) -> String {
        let head = [
            "client", "CPU us/fetch", "x floor", "fetches/s", "p50 us", "p90 us", "p99 us", "p99.9 us", "peak MiB",
            "growth MiB", "connections", "switches/fetch", "errors",
        ]
        let lines = rows.map { row in
            let cells = [
                escaped(row.client), text(row.cpuPerFetch), text(row.cpuRatio, 2), text(row.fetchesPerSecond, 0),
                text(row.p50, 0), text(row.p90, 0), text(row.p99, 0), text(row.p999, 0),
                text(row.rssPeak.map { Double($0) / 1_048_576 }), text(row.rssGrowth.map { Double($0) / 1_048_576 }),
                row.connections.map { "\($0)" } ?? "", text(row.voluntarySwitchesPerFetch, 2),
                row.errors == 0 ? "0" : "\(row.errors): \(escaped(row.error ?? ""))",
            ]
            return
                "<tr class=\"\(row.client.hasPrefix("curl-stack") ? "own" : "")\"><td>\(cells.joined(separator: "</td><td>"))</td></tr>"
        }
        return """
            <h2 id="\(workload.name)">\(escaped(workload.title)) <small>(\(workload.name))</small></h2>
            \(plot(rows))
            <table><tr><th>\(head.joined(separator: "</th><th>"))</th></tr>\(lines.joined(separator: "\n"))</table>
            """
    }

    /// Bars of processor time; the scale is logarithmic where the slowest is far beyond the rest.
    private func plot(_ rows: [Row]) -> String {
        let bars = rows.filter { $0.cpuPerFetch.map { $0 > 0 } ?? false && $0.client != "libcurl-c" }
        guard let most = bars.compactMap(\.cpuPerFetch).max(), let least = bars.compactMap(\.cpuPerFetch).min() else {
            return ""
        }
        let isLogarithmic = most > least * 12
        let width = 560.0
        func x(_ value: Double) -> Double {
            isLogarithmic ? width * log(value / least * 2) / log(most / least * 2) : width * value / most
        }
        let shapes = bars.enumerated().map { index, row -> String in
            let y = Double(index) * 22 + 4
            let value = row.cpuPerFetch ?? 0
            let color =
                row.client.hasPrefix("curl-stack") ? "#2364aa" : row.client.hasPrefix("libcurl") ? "#8d99ae" : "#d9a05b"
            let (low, high) = (x(max(row.cpuLowest ?? value, 0.001)), x(row.cpuHighest ?? value))
            return """
                <text x="150" y="\(y + 12)" text-anchor="end">\(escaped(row.client))</text>
                <rect x="158" y="\(y)" width="\(number(x(value)))" height="16" fill="\(color)"/>
                <line x1="\(number(158 + max(low, 0)))" x2="\(number(158 + min(high, width + 30)))" y1="\(y + 8)" y2="\(y + 8)" stroke="#333"/>
                <text x="\(number(166 + min(max(x(value), high), width + 30)))" y="\(y + 12)">\(text(value)) us</text>
                """
        }
        let note = isLogarithmic ? "<p><small>The bars' scale is logarithmic.</small></p>" : ""
        return """
            <svg width="860" height="\(bars.count * 22 + 8)" role="img" aria-label="Processor time per fetch">\(shapes.joined())</svg>\(note)
            """
    }

    private func number(_ value: Double) -> String { String(format: "%.1f", value) }

    private func text(_ value: Double?, _ digits: Int = 1) -> String {
        value.map { String(format: "%.\(digits)f", $0) } ?? ""
    }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }
}
