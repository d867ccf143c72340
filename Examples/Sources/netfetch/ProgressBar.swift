import Foundation

/// A line on the terminal that shows how much of a body was received, or sent.
struct ProgressBar {
    private enum Direction: String {
        case sent = "sent "
        case received = ""
    }

    private let began = ContinuousClock.now
    private var drawnAt: ContinuousClock.Instant?
    private var direction = Direction.received
    private var count: Int64 = 0
    private var total: Int64?

    /// So much of the request's body was sent.
    mutating func sent(_ count: Int64, of total: Int64?) {
        (direction, self.count, self.total) = (.sent, count, total)
        drawInTime()
    }

    /// A response begins.
    mutating func begin(total: Int64?) {
        if direction == .sent { end() }
        (direction, count, self.total) = (.received, 0, total)
    }

    /// Some of the response's body came.
    mutating func add(_ bytes: Int) {
        count += Int64(bytes)
        drawInTime()
    }

    /// Draws a last time and leaves the line.
    mutating func end() {
        guard drawnAt != nil else { return }
        draw(.now)
        Trace.write("\n")
        drawnAt = nil
    }

    private mutating func drawInTime() {
        let now = ContinuousClock.now
        if let drawnAt, now - drawnAt < .milliseconds(100) { return }
        drawnAt = now
        draw(now)
    }

    private func draw(_ now: ContinuousClock.Instant) {
        let seconds = max((now - began).milliseconds / 1000, 0.001)
        Trace.write("\r" + line(rate: Double(count) / seconds, columns: Terminal.columns - 1) + "\u{1B}[K")
    }

    /// The line, of at most so many columns: the bar has what the figures leave, and figures that find no room are left out.
    private func line(rate: Double, columns: Int) -> String {
        let rate = "\(Self.amount(rate))/s"
        guard let total, total > 0 else {
            return String("\(direction.rawValue)\(Self.amount(Double(count)))  \(rate)".prefix(columns))
        }
        let part = min(Double(count) / Double(total), 1)
        let percent = String(format: "%5.1f%%", part * 100)
        let amounts = "\(direction.rawValue)\(Self.amount(Double(count))) of \(Self.amount(Double(total)))"
        var figures = [" \(percent)", amounts, rate].joined(separator: "  ")
        if figures.count > columns { figures = percent }
        let room = min(columns - figures.count, 60)
        let filled = Int(part * Double(max(room, 0)))
        return String(repeating: "#", count: filled) + String(repeating: " ", count: max(room, 0) - filled) + figures
    }

    private static func amount(_ bytes: Double) -> String {
        var (value, unit) = (bytes, "B")
        for next in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 { (value, unit) = (value / 1024, next) }
        return unit == "B" ? "\(Int(value)) B" : String(format: "%.1f %@", value, unit)
    }
}
