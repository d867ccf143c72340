internal import NetworkStack

/// How long a loop's turns take: from the end of a wait to the next. A turn that takes long delays all transfers.
///
/// It is a histogram with four steps for each power of two of microseconds, for the current minute and for the last one. Its memory is
/// constant.
struct TurnTimes {
    private struct Minute {
        var counts = [UInt32](repeating: 0, count: TurnTimes.stepCount)
        var longest: UInt64 = 0
    }

    private var minutes = (current: Minute(), last: Minute())
    private var minuteEnd: MonotonicTime
    private var began: MonotonicTime

    private static let stepCount = 160

    init(at now: MonotonicTime) { (began, minuteEnd) = (now, now + .seconds(60)) }

    /// A turn begins.
    mutating func begin(at now: MonotonicTime) { began = now }

    /// A turn has ended, and the next begins.
    mutating func end(at now: MonotonicTime) {
        if now >= minuteEnd { startMinute(at: now) }
        let microseconds = (now.nanoseconds &- began.nanoseconds) / 1000
        minutes.current.counts[Self.step(of: microseconds)] &+= 1
        minutes.current.longest = max(minutes.current.longest, microseconds)
        began = now
    }

    private mutating func startMinute(at now: MonotonicTime) {
        // After a quiet minute, the last one is too long ago.
        minutes = (Minute(), now < minuteEnd + .seconds(60) ? minutes.current : Minute())
        minuteEnd = now + .seconds(60)
    }

    /// Adds the times of the last one to two minutes.
    mutating func report(to gauges: inout Network.Gauges.Loop, at now: MonotonicTime) {
        if now >= minuteEnd { startMinute(at: now) }
        let counts = zip(minutes.current.counts, minutes.last.counts).map { Int($0) + Int($1) }
        let longest = max(minutes.current.longest, minutes.last.longest)
        gauges.turns = counts.reduce(0, +)
        gauges.longestTurn = .microseconds(Int64(longest))
        func time(ofShare share: Double) -> Duration {
            var left = Int((Double(gauges.turns) * share).rounded(.up))
            for (step, count) in counts.enumerated() {
                left -= count
                if left <= 0 { return .microseconds(Int64(min(Self.end(of: step), longest))) }
            }
            return .zero
        }
        gauges.medianTurn = time(ofShare: 0.5)
        gauges.slowTurn = time(ofShare: 0.99)
    }

    /// The step of a time.
    static func step(of microseconds: UInt64) -> Int {
        guard microseconds >= 4 else { return Int(microseconds) }
        let power = 63 - microseconds.leadingZeroBitCount
        let quarter = Int(microseconds >> UInt64(power - 2)) & 3
        return min((power - 1) * 4 + quarter, stepCount - 1)
    }

    /// The longest time of a step, in microseconds.
    static func end(of step: Int) -> UInt64 {
        guard step >= 4 else { return UInt64(step) }
        let (power, quarter) = (step / 4 + 1, UInt64(step % 4))
        return ((4 + quarter + 1) << UInt64(power - 2)) - 1
    }
}
