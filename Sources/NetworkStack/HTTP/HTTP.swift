/// The namespace of the HTTP vocabulary (RFC 9110).
public enum HTTP {}

extension UInt8 {
    /// Whether the byte may occur in a token, such as a method or a header name (RFC 9110 section 5.6.2).
    @inline(__always)
    var isTokenByte: Bool {
        // Most are letters, and every name of a received head is checked.
        if (self | 0x20) &- UInt8(ascii: "a") < 26 { return true }
        return switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: isDigit
        }
    }

    /// Whether the byte may be sent in a field's value: it is not a control byte, or it is the tab (RFC 9110 section 5.5).
    package var isValueByte: Bool { self >= 0x20 && self != 0x7F || self == UInt8(ascii: "\t") }

    /// Whether some parsers end a line or a text at the byte; received values do not contain it (RFC 9110 section 5.5).
    var endsValue: Bool { self == 0 || self == UInt8(ascii: "\r") || self == UInt8(ascii: "\n") }

    /// Whether it is an ASCII digit.
    @inlinable
    package var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    /// Whether it is an ASCII letter or digit.
    var isAlphanumeric: Bool { isDigit || (self | 0x20) &- UInt8(ascii: "a") < 26 }

    /// Whether it is a space or a tab, which are not part of a value at its ends (RFC 9110 section 5.6.3).
    @inlinable
    package var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether a URL's authority ends before this byte (RFC 3986 section 3.2).
    var endsAuthority: Bool { self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#") }

    /// The byte, an upper-case ASCII letter in lower case.
    @inline(__always)
    var asciiLowercased: UInt8 { self &- UInt8(ascii: "A") < 26 ? self | 0x20 : self }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without blanks at both ends.
    @inlinable
    package var withoutOuterBlanks: SubSequence {
        // Most have none.
        if let first, let last, !first.isBlank, !last.isBlank { return self[...] }
        let rest = drop(while: \.isBlank)
        return rest.lastIndex { !$0.isBlank }.map { rest[...$0] } ?? rest
    }
}
