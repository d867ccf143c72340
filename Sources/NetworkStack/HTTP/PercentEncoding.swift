extension Collection<UInt8> {
    /// The bytes that percent-encoded text stands for (RFC 3986 section 2.1), or `nil` if an escape in it is none. What
    /// was escaped twice is unescaped once.
    var percentDecoded: [UInt8]? {
        var bytes: [UInt8] = []
        var rest = self[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.utf8.allSatisfy(\.isHexDigit), let decoded = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}

extension UInt8 {
    var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
