package import Dispatch

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

    /// The duration in seconds.
    var seconds: Double {
        let (seconds, attoseconds) = parts
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
