/// An IP address as bytes, so that its spellings compare equal.
struct IPAddress: Sendable, Hashable {
    /// Four bytes of IPv4, or sixteen of IPv6.
    let bytes: [UInt8]

    /// Parses an address, with or without the brackets of IPv6. A zone is ignored.
    init?(_ text: String) {
        var text = text[...]
        if text.hasPrefix("[") {
            guard text.hasSuffix("]") else { return nil }
            text = text.dropFirst().dropLast()
            guard text.contains(":") else { return nil }
        }
        guard let bytes = text.contains(":") ? Self.v6(text.prefix { $0 != "%" }) : Self.v4(text) else { return nil }
        self.bytes = bytes
    }

    /// Whether the address is in a block.
    func isIn(_ block: IPAddress, bits: Int) -> Bool {
        guard bytes.count == block.bytes.count else { return false }
        let (whole, rest) = (bits / 8, bits % 8)
        guard bytes[..<whole] == block.bytes[..<whole] else { return false }
        return rest == 0 || (bytes[whole] ^ block.bytes[whole]) >> (8 - rest) == 0
    }

    /// Four decimal numbers. Leading zeros are refused (RFC 3986 section 3.2.2): many read them as octal.
    private static func v4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part in
            part.utf8.allSatisfy(\.isDigit) && (part.utf8.first != UInt8(ascii: "0") || part.utf8.count == 1)
                ? UInt8(part) : nil
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func v6(_ text: Substring) -> [UInt8]? {
        guard let gap = text.firstRange(of: "::") else {
            return groups(text).flatMap { $0.count == 16 ? $0 : nil }
        }
        let start = text[..<gap.lowerBound]
        guard !start.contains("."), let before = groups(start), let after = groups(text[gap.upperBound...]),
            before.count + after.count <= 14
        else { return nil }
        return before + Array(repeating: 0, count: 16 - before.count - after.count) + after
    }

    /// Groups of hexadecimal digits, the last of which may be an IPv4 address (RFC 4291 section 2.2).
    private static func groups(_ text: Substring) -> [UInt8]? {
        if text.isEmpty { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(".") {
                guard let tail = v4(part) else { return nil }
                bytes += tail
            } else {
                guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy(\.isHexDigit),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
            }
        }
        return bytes
    }
}
