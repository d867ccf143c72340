extension Collection<UInt8> {
    /// The percent-decoded bytes (RFC 3986 section 2.1), or `nil` if an escape is invalid. Decodes once.
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

    /// RFC 3986 `pchar`, and the slash between segments.
    var isPathByte: Bool {
        switch self {
        case UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
            true
        case UInt8(ascii: "%"), UInt8(ascii: "#"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"): false
        default: isTokenByte
        }
    }
}

extension [UInt8] {
    /// Appends text, escaping what is not allowed.
    mutating func append(escaping text: String, unless isAllowed: (UInt8) -> Bool) {
        for byte in text.utf8 { append(escaping: byte, unless: isAllowed) }
    }

    /// Appends a byte, escaped if it is not allowed.
    @inline(__always)
    mutating func append(escaping byte: UInt8, unless isAllowed: (UInt8) -> Bool) {
        if isAllowed(byte) { append(byte) } else { append(percentEncoding: byte) }
    }

    /// Appends a byte as `%` and two digits.
    mutating func append(percentEncoding byte: UInt8) {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10 }
        append(UInt8(ascii: "%"))
        append(digit(byte >> 4))
        append(digit(byte & 15))
    }
}
