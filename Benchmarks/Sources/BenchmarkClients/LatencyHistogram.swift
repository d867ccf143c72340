/// How long fetches took, in nanoseconds, in buckets less than 1 % wide. Of fixed size, so that a long run holds no more
/// memory than a short one.
struct LatencyHistogram {
    private var counts = [UInt32](repeating: 0, count: 40 * 256)

    mutating func record(_ nanoseconds: UInt64) {
        let shift = max(0, UInt64.bitWidth - nanoseconds.leadingZeroBitCount - 8)
        counts[min(shift * 256 + Int(nanoseconds >> UInt64(shift)), counts.count - 1)] += 1
    }

    /// The buckets that are not empty, as `"lower bound": count` of a JSON object.
    ///
    /// A plain loop: as a chain of lazy sequences, which are generic code, it took a tenth of a cold start.
    var json: String {
        var text = "{"
        for index in 0..<counts.count where counts[index] > 0 {
            if text.utf8.count > 1 { text += "," }
            text += "\"\(UInt64(index % 256) << UInt64(index / 256))\":\(counts[index])"
        }
        return text + "}"
    }
}
