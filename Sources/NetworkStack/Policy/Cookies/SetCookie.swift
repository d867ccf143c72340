internal import FoundationEssentials

/// A parsed `Set-Cookie` field (RFC 6265bis section 5.6, which accepts more than servers should send). ``HTTP/Cookie`` checks its
/// name and value.
struct SetCookie {
    /// The longest value of an attribute, in bytes; a longer attribute is ignored.
    private static let longestAttribute = 1024

    private(set) var name = ""
    private(set) var value = ""
    /// The last `Max-Age`, in seconds.
    private(set) var maxAge: Int64?
    /// The last valid `Expires`.
    private(set) var expires: Date?
    /// The last `Domain`, without a leading dot, in lower case. Empty means the host itself.
    private(set) var domain = ""
    /// The last valid `Path`.
    private(set) var path: String?
    /// Whether there is a `Path`, valid or not.
    private(set) var hasPathAttribute = false
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false

    /// Parses a field's value; `nil` if it has a control character other than the tab.
    init?(_ field: String) {
        guard HTTP.Headers.isLegal(value: field) else { return nil }
        let parts = Array(field.utf8).split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let first = parts.first else { return nil }
        if let equals = first.firstIndex(of: UInt8(ascii: "=")) {
            name = Self.text(first[..<equals])
            value = Self.text(first[(equals + 1)...])
        } else {
            value = Self.text(first)
        }
        for part in parts.dropFirst() {
            let equals = part.firstIndex(of: UInt8(ascii: "="))
            let text = equals.map { Self.text(part[($0 + 1)...]) } ?? ""
            if text.utf8.count <= Self.longestAttribute {
                take(Self.text(part[..<(equals ?? part.endIndex)]).lowercased(), text)
            }
        }
    }

    private mutating func take(_ attribute: String, _ text: String) {
        switch attribute {
        case "expires": if let date = CookieDate.date(of: text) { expires = date }
        case "max-age":
            let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
            guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return }
            maxAge = Int64(text) ?? (text.hasPrefix("-") ? 0 : .max)
        case "domain": domain = (text.hasPrefix(".") ? String(text.dropFirst()) : text).lowercased()
        case "path": (path, hasPathAttribute) = (text.hasPrefix("/") ? text : nil, true)
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.withoutOuterBlanks, as: UTF8.self)
    }
}
