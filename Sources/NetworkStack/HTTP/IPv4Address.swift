/// An IPv4 address in any form of `inet_aton`: one to four numbers, decimal, octal (`0`) or hexadecimal (`0x`). The last number
/// fills the remaining bytes.
struct IPv4Address: CustomStringConvertible {
    let value: UInt32

    init(value: UInt32) { self.value = value }

    init?(_ text: some BidirectionalCollection<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...4).contains(parts.count) else { return nil }
        var value: UInt64 = 0
        for (index, part) in parts.enumerated() {
            guard let number = Self.number(part) else { return nil }
            let isLast = index == parts.count - 1
            let room = isLast ? UInt64(8 * (4 - index)) : 8
            guard number < 1 << room else { return nil }
            value = value << room | number
        }
        self.value = UInt32(value)
    }

    private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        var rest = Substring(decoding: digits, as: UTF8.self)
        var radix = 10
        if rest.hasPrefix("0x") || rest.hasPrefix("0X") {
            (rest, radix) = (rest.dropFirst(2), 16)
        } else if rest.hasPrefix("0"), rest.utf8.count > 1 {
            (rest, radix) = (rest.dropFirst(), 8)
        }
        guard rest.utf8.first != UInt8(ascii: "+"), rest.utf8.first != UInt8(ascii: "-") else { return nil }
        return UInt64(rest, radix: radix)
    }

    /// Four decimal numbers.
    var description: String { (0..<4).map { "\(value >> (24 - 8 * $0) & 0xFF)" }.joined(separator: ".") }
}
