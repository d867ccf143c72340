import Foundation

/// The plots of the page, as inline SVG.
enum Plots {
    /// Bars of processor time; the scale is logarithmic where the slowest is far beyond the rest.
    static func bars(_ rows: [Row]) -> String {
        let bars = rows.filter { $0.cpuPerFetch.map { $0 > 0 } ?? false && $0.variant == nil }
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
            let (low, high) = (x(max(row.cpuLowest ?? value, 0.001)), x(row.cpuHighest ?? value))
            return """
                <text x="150" y="\(y + 12)" text-anchor="end">\(row.client)</text>
                <rect x="158" y="\(y)" width="\(number(x(value)))" height="16" fill="\(color(row.client))"/>
                <line x1="\(number(158 + max(low, 0)))" x2="\(number(158 + min(high, width + 30)))" y1="\(y + 8)" y2="\(y + 8)" stroke="#555"/>
                <text x="\(number(166 + min(max(x(value), high), width + 30)))" y="\(y + 12)">\(number(value)) us</text>
                """
        }
        return figure(
            "Processor time per fetch; the line spans the rounds\(isLogarithmic ? "; logarithmic" : "")",
            height: bars.count * 22 + 8,
            shapes
        )
    }

    /// Latencies on a logarithmic scale: a line from p50 to p99.9, with p90 and p99 on it.
    static func latencies(_ rows: [Row]) -> String {
        let lines = rows.filter { ($0.p50 ?? 0) > 0 && $0.variant == nil }
        guard let least = lines.compactMap(\.p50).min(), let most = lines.compactMap(\.p999).max(), most > least else {
            return ""
        }
        func x(_ value: Double) -> Double { 158 + 560 * log(value / least) / log(most / least) }
        let shapes = lines.enumerated().map { index, row -> String in
            let y = Double(index) * 22 + 12
            let marks = [row.p50, row.p90, row.p99, row.p999].compactMap { $0 }
            let dots = marks.enumerated().map { place, value in
                "<circle cx=\"\(number(x(value)))\" cy=\"\(y)\" r=\"\(place == 0 ? 5 : 3)\" fill=\"\(color(row.client))\"/>"
            }
            return """
                <text x="150" y="\(y + 4)" text-anchor="end">\(row.client)</text>
                <line x1="\(number(x(marks.first ?? least)))" x2="\(number(x(marks.last ?? most)))" y1="\(y)" y2="\(y)" \
                stroke="\(color(row.client))" stroke-width="2"/>\(dots.joined())
                <text x="\(number(x(marks.last ?? most) + 10))" y="\(y + 4)">\(number(marks.first ?? 0)) us</text>
                """
        }
        return figure(
            "Time of a fetch: p50 (large dot, and the number), p90, p99, p99.9; logarithmic",
            height: lines.count * 22 + 8,
            shapes
        )
    }

    /// How processor time per fetch goes with the number of fetches under way.
    static func levels(_ rows: [Row]) -> String {
        let levels = [1, 16, 64, 256, 1000]
        var points: [String: [(Int, Double)]] = [:]
        for (index, level) in levels.enumerated() {
            for row in rows where row.workload == "get-1k-h1-c\(level)" && row.variant == nil {
                if let value = row.cpuPerFetch, value > 0 { points[row.client, default: []].append((index, value)) }
            }
        }
        points = points.filter { $0.value.count > 1 }
        let values = points.values.joined().map(\.1)
        guard let least = values.min(), let most = values.max(), most > least else { return "" }
        func x(_ index: Int) -> Double { 60 + Double(index) * 130 }
        func y(_ value: Double) -> Double { 300 - 280 * log(value / least) / log(most / least) }
        // Names that would lie on each other are moved apart.
        var last = -Double.infinity
        let lines = points.sorted { ($0.value.last?.1 ?? 0) > ($1.value.last?.1 ?? 0) }.map {
            client,
            points -> String in
            let path = points.map { "\(number(x($0.0))),\(number(y($0.1)))" }.joined(separator: " ")
            let end = points[points.count - 1]
            last = max(y(end.1) + 4, last + 13)
            return """
                <polyline points="\(path)" fill="none" stroke="\(color(client))" stroke-width="2"/>
                <text x="\(number(x(levels.count - 1) + 12))" y="\(number(last))" fill="\(color(client))">\(client)</text>
                """
        }
        let axis = levels.enumerated().map {
            "<text x=\"\(number(x($0)))\" y=\"325\" text-anchor=\"middle\">\($1)</text>"
        }
        let scale = [20.0, 50, 100, 200, 500, 1000].filter { $0 >= least && $0 <= most }.map { value in
            """
            <line x1="40" x2="\(number(x(levels.count - 1)))" y1="\(number(y(value)))" y2="\(number(y(value)))" stroke="#8884"/>\
            <text x="34" y="\(number(y(value) + 4))" text-anchor="end">\(Int(value))</text>
            """
        }
        return figure(
            "1 KiB GET: processor time per fetch (us, logarithmic) by fetches in flight",
            height: 480,
            scale + lines + axis
        )
    }

    private static func figure(_ title: String, height: Int, _ shapes: [String]) -> String {
        """
        <figure><figcaption>\(title)</figcaption>
        <svg width="860" height="\(height)" role="img" aria-label="\(title)">\(shapes.joined())</svg></figure>
        """
    }

    private static func color(_ client: String) -> String {
        if client.hasPrefix("curl-stack") { return client.hasSuffix("-base") ? "#7fa8d1" : "#2364aa" }
        if client.hasPrefix("libcurl") { return "#8d99ae" }
        if client.hasPrefix("urlsession") { return "#b5525c" }
        return client.hasPrefix("async-http-client") ? "#d98a3d" : "#6a9a5b"
    }

    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
