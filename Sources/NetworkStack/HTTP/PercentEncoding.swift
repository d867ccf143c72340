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

extension String {
    /// A URL's text in which what no path, query or fragment may hold is escaped, and nothing else.
    ///
    /// Foundation escapes that, too, and with it every escape that stands beside it: `/a%20b c` would lead to
    /// `/a%2520b%20c`. What stands before the path is left to Foundation.
    var escapedForURL: String {
        let bytes = Array(utf8)
        var start = 0
        if let slash = bytes.firstIndex(where: \.endsAuthority), bytes[slash...].starts(with: "//".utf8),
            slash == 0 || bytes[slash - 1] == UInt8(ascii: ":")
        {
            start = bytes[(slash + 2)...].firstIndex(where: \.endsAuthority) ?? bytes.count
        }
        var escaped = Array(bytes[..<start])
        var isInFragment = false
        for place in bytes.indices[start...] {
            switch bytes[place] {
            case UInt8(ascii: "%") where bytes[(place + 1)...].prefix(2).count { $0.isHexDigit } == 2,
                UInt8(ascii: "#") where !isInFragment:
                isInFragment = isInFragment || bytes[place] == UInt8(ascii: "#")
                escaped.append(bytes[place])
            case let byte: escaped.append(escaping: byte) { $0 == UInt8(ascii: "?") || EndpointURL.isPathByte($0) }
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
