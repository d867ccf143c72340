import NetworkStack
import Testing

@testable import CurlStack

@Suite("Times of a loop's turns")
struct TurnTimesTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func report(_ times: inout TurnTimes, after time: Duration) -> Network.Gauges.Loop {
        var gauges = Network.Gauges.Loop()
        times.report(to: &gauges, at: Self.start + time)
        return gauges
    }

    @Test("are counted in steps of at most a quarter")
    func steps() {
        for power in 0..<30 {
            for time in [1 << power, (1 << power) + 1, (3 << power) / 2, (1 << (power + 1)) - 1] as [UInt64] {
                let end = TurnTimes.end(of: TurnTimes.step(of: time))
                #expect(end >= time && Double(end) <= Double(time) * 1.25, "\(time) µs")
                #expect(TurnTimes.step(of: end + 1) == TurnTimes.step(of: time) + 1, "after \(end) µs")
            }
        }
        #expect(TurnTimes.step(of: .max) == 159)
    }

    @Test("have a median, a 99th percentile and a longest")
    func percentiles() {
        var times = TurnTimes(at: Self.start)
        var now = Self.start
        // 97 of 100 µs, two of 1 ms, one of 1 s, in no order.
        for turn in 0..<100 {
            times.begin(at: now)
            now = now + (turn == 30 ? .seconds(1) : turn % 50 == 7 ? .milliseconds(1) : .microseconds(100))
            times.end(at: now)
        }
        let gauges = report(&times, after: .seconds(2))
        #expect(gauges.turns == 100)
        #expect(gauges.medianTurn >= .microseconds(100) && gauges.medianTurn <= .microseconds(125))
        #expect(gauges.slowTurn >= .milliseconds(1) && gauges.slowTurn <= .microseconds(1250))
        #expect(gauges.longestTurn == .seconds(1))
    }

    @Test("are dropped after two minutes")
    func forgotten() {
        var times = TurnTimes(at: Self.start)
        times.end(at: Self.start + .seconds(1))
        #expect(report(&times, after: .seconds(59)).turns == 1)
        times.begin(at: Self.start + .seconds(70))
        times.end(at: Self.start + .seconds(71))
        #expect(report(&times, after: .seconds(100)).turns == 2)
        #expect(report(&times, after: .seconds(132)).turns == 1)
        #expect(report(&times, after: .seconds(600)).turns == 0)
        #expect(report(&times, after: .seconds(601)).longestTurn == .zero)
    }
}
