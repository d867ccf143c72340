import Foundation

/// A bar on a terminal's last line that shows how much of the content has come.
struct ProgressBar {
    private let began = ContinuousClock.now
    private var drawnAt: ContinuousClock.Instant?
    private var count: Int64 = 0
    private var total: Int64?

    /// Whether there is a terminal to draw on, and it does not show the content itself.
    static func hasPlace(contentOnTerminal: Bool) -> Bool { isatty(STDERR_FILENO) == 1 && !contentOnTerminal }

    /// A response begins.
    mutating func begin(total: Int64?) { (count, self.total) = (0, total) }

    /// Content came.
    mutating func add(_ bytes: Int) {
        count += Int64(bytes)
        let now = ContinuousClock.now
        if let drawnAt, now - drawnAt < .milliseconds(100) { return }
        drawnAt = now
        draw(now)
    }

    /// Draws a last time and leaves the line.
    mutating func end() {
        guard drawnAt != nil else { return }
        draw(.now)
        Trace.write("\n")
    }

    private func draw(_ now: ContinuousClock.Instant) {
        let seconds = max((now - began).milliseconds / 1000, 0.001)
        let rate = "\(Self.amount(Double(count) / seconds))/s"
        var line = "\r"
        if let total, total > 0 {
            let part = min(Double(count) / Double(total), 1)
            let filled = Int(part * 40)
            line += String(repeating: "#", count: filled) + String(repeating: " ", count: 40 - filled)
            line +=
                String(format: " %5.1f%%  ", part * 100)
                + "\(Self.amount(Double(count))) of \(Self.amount(Double(total)))"
        } else {
            line += Self.amount(Double(count))
        }
        Trace.write(line + "  \(rate)\u{1B}[K")
    }

    private static func amount(_ bytes: Double) -> String {
        var (value, unit) = (bytes, "B")
        for next in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 { (value, unit) = (value / 1024, next) }
        return unit == "B" ? "\(Int(value)) B" : String(format: "%.1f %@", value, unit)
    }
}
