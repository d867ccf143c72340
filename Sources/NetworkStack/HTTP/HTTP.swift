/// The namespace of the HTTP vocabulary (RFC 9110).
public enum HTTP {}

extension UInt8 {
    /// Whether the byte may stand in a token, such as a method or a header name (RFC 9110 section 5.6.2).
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether a URL's authority ends before this byte (RFC 3986 section 3.2).
    var endsAuthority: Bool { self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#") }

    /// The lower-case form of an ASCII letter; any other byte as it is.
    @inline(__always)
    var asciiLowercased: UInt8 { self &- UInt8(ascii: "A") < 26 ? self | 0x20 : self }
}
