#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A point on the monotonic clock, in nanoseconds.
struct MonotonicTime: Comparable, Sendable {
    var nanoseconds: UInt64

    /// Now, on the clock that `DispatchTime` counts by; asked for by way of that, it costs three times as much.
    static var now: MonotonicTime {
        #if canImport(Darwin)
            return MonotonicTime(nanoseconds: clock_gettime_nsec_np(CLOCK_UPTIME_RAW))
        #else
            var time = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
        #endif
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    func after(nanoseconds count: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds &+ count) }

    /// Nothing comes earlier: less than no time is none. Options that make no sense may get here before anybody refuses them.
    static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        guard duration > .zero else { return time }
        let (seconds, attoseconds) = duration.parts
        guard seconds < 1 << 32 else { return MonotonicTime(nanoseconds: time.nanoseconds &+ 1 << 62) }
        return MonotonicTime(
            nanoseconds: time.nanoseconds + UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
        )
    }

    static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
        .nanoseconds(Int64(later.nanoseconds - min(later.nanoseconds, earlier.nanoseconds)))
    }
}
