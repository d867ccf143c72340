internal import Glibc
internal import NetworkStack

/// A point on the loop's clock, in milliseconds.
struct MonotonicInstant: Comparable {
    let milliseconds: Int64

    static var now: MonotonicInstant {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicInstant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool { left.milliseconds < right.milliseconds }

    /// The time since an earlier point.
    func since(_ earlier: MonotonicInstant) -> Duration { .milliseconds(milliseconds - earlier.milliseconds) }

    /// A later point; never early.
    func after(_ duration: Duration) -> MonotonicInstant {
        let (seconds, attoseconds) = duration.parts
        guard seconds < 1 << 31 else { return MonotonicInstant(milliseconds: .max) }
        return MonotonicInstant(milliseconds: milliseconds + seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
}
