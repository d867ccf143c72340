internal import FoundationEssentials

/// A `Set-Cookie` field, read as RFC 6265bis section 5.6 has it: what servers send, not what they should.
struct SetCookie {
    /// Name and value, in bytes.
    static let longestPair = 4096
    /// An attribute's value, in bytes; a longer attribute is passed over.
    private static let longestAttribute = 1024

    private(set) var name = ""
    private(set) var value = ""
    /// Seconds to live; the last `Max-Age`.
    private(set) var maxAge: Int64?
    /// The last `Expires` that is a date.
    private(set) var expires: Date?
    /// The last `Domain`, without a leading dot, in lower case. Empty means the host itself.
    private(set) var domain = ""
    /// The last `Path` that is one.
    private(set) var path: String?
    /// Whether there is a `Path`, be it one or not.
    private(set) var saysPath = false
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    private(set) var sameSite: HTTP.Cookie.SameSite?

    /// Reads a field's value, or answers `nil` if it sets nothing.
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
        // A value without a name is sent alone: with a sign in it, it would be another cookie.
        guard !name.isEmpty || !value.isEmpty && !value.utf8.contains(UInt8(ascii: "=")),
            name.utf8.count + value.utf8.count <= Self.longestPair
        else {
            return nil
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
        case "path": (path, saysPath) = (text.hasPrefix("/") ? text : nil, true)
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite":
            let known: [HTTP.Cookie.SameSite] = [.strict, .lax, .none]
            sameSite = known.first { $0.rawValue.lowercased() == text.lowercased() }
        default: break
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.withoutOuterBlanks, as: UTF8.self)
    }
}
