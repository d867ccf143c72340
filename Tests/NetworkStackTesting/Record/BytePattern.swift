/// Bytes that show their position: 0 to 250, repeated, so that no power of two is a period.
public enum BytePattern {
    private static let period = (0..<UInt8(251)).map { $0 }
    private static let block = Array(repeatElement(period, count: 256).joined())

    /// `count` bytes of the pattern, from `offset` on.
    public static func bytes(_ count: Int, at offset: Int = 0) -> [UInt8] {
        let phase = offset % period.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + block.count)
        bytes.append(contentsOf: block[phase...].prefix(count))
        while bytes.count < count { bytes.append(contentsOf: block.prefix(count - bytes.count)) }
        return bytes
    }

    /// A whole number of periods, about 63 KiB, so that repeating it continues the pattern.
    static var wholePeriods: [UInt8] { block }
}
