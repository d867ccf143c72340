package import Dispatch

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A point on the monotonic clock, in nanoseconds.
package struct MonotonicTime: Comparable, Sendable {
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Later than every time of the clock.
    static var never: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// The whole milliseconds.
    package var milliseconds: Int64 { Int64(nanoseconds / 1_000_000) }

    /// The first whole millisecond after it: a wait until then is never too short.
    package var nextMillisecond: Int64 { milliseconds + 1 }

    /// The current time of the clock behind `DispatchTime`. Reading it through `DispatchTime` costs three times as much.
    package static var now: MonotonicTime {
        #if canImport(Darwin)
            return MonotonicTime(nanoseconds: clock_gettime_nsec_np(CLOCK_UPTIME_RAW))
        #else
            var time = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
        #endif
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    func after(nanoseconds count: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds &+ count) }

    /// Never earlier: a negative duration counts as none. Invalid options may get here before they are refused.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        guard duration > .zero else { return time }
        let (seconds, attoseconds) = duration.parts
        guard seconds < 1 << 32 else { return MonotonicTime(nanoseconds: time.nanoseconds &+ 1 << 62) }
        return MonotonicTime(
            nanoseconds: time.nanoseconds + UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
        )
    }

    package static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
        .nanoseconds(Int64(later.nanoseconds - min(later.nanoseconds, earlier.nanoseconds)))
    }
}

extension Duration {
    /// The whole seconds, and the rest in attoseconds. `components` traps for a duration that is too long for it; here such a
    /// duration counts as 2^62 seconds.
    package var parts: (seconds: Int64, attoseconds: Int64) {
        let longest = Duration.seconds(1 << 62)
        return min(max(self, .zero - longest), longest).components
    }

    /// The same for a dispatch queue, rounded up so that no work is early. Zero and less is now; more than 68 years is never.
    package var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = max(self, .zero).parts
        guard seconds < 1 << 31 else { return .never }
        return .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000) + 1)
    }

    /// This duration, but at most thirty years: clocks trap on much longer ones.
    package var bounded: Duration { min(self, .seconds(1_000_000_000)) }

    /// The duration in seconds.
    var seconds: Double {
        let (seconds, attoseconds) = parts
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
