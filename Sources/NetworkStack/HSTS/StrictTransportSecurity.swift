/// A `Strict-Transport-Security` field (RFC 6797 section 6.1).
struct StrictTransportSecurity: Equatable {
    /// Seconds for which the host is to be reached over https only; 0 ends it.
    let maxAge: Int64
    /// Whether that goes for the hosts below it, too.
    let includesSubdomains: Bool

    init(maxAge: Int64, includesSubdomains: Bool) {
        self.maxAge = maxAge
        self.includesSubdomains = includesSubdomains
    }

    /// Reads a field's value, or answers `nil` if it breaks the grammar, has a directive twice, or no `max-age`.
    init?(_ field: String) {
        var directives: [String: String?] = [:]
        for part in Self.parts(of: field) {
            let equals = part.firstIndex(of: "=")
            let name = Self.trimmed(part[..<(equals ?? part.endIndex)])
            if name.isEmpty, equals == nil { continue }
            guard HTTP.Headers.isLegal(name: name), directives[name.lowercased()] == nil else { return nil }
            guard let value = Self.value(equals.map { part[part.index(after: $0)...] }) else { return nil }
            directives[name.lowercased()] = .some(value)
        }
        guard case let text?? = directives["max-age"], !text.isEmpty,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        if case .some(.some) = directives["includesubdomains"] { return nil }
        maxAge = Int64(text) ?? .max
        includesSubdomains = directives["includesubdomains"] != nil
    }

    /// The directives: what stands between semicolons that are not in a quoted text.
    private static func parts(of field: String) -> [Substring] {
        var parts: [Substring] = []
        var (start, isQuoted, isEscaped) = (field.startIndex, false, false)
        for index in field.indices {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, field[index] == "\\" {
                isEscaped = true
            } else if field[index] == "\"" {
                isQuoted.toggle()
            } else if field[index] == ";", !isQuoted {
                parts.append(field[start..<index])
                start = field.index(after: index)
            }
        }
        return parts + [field[start...]]
    }

    /// A directive's value: none, a token, or a quoted text without its quotes. The outer `nil` is what is neither.
    private static func value(_ text: Substring?) -> String?? {
        guard let text else { return .some(nil) }
        let value = trimmed(text)
        guard value.hasPrefix("\"") else { return HTTP.Headers.isLegal(name: value) ? .some(value) : nil }
        guard value.count >= 2, value.hasSuffix("\"") else { return nil }
        var inner = ""
        var isEscaped = false
        for character in value.dropFirst().dropLast() {
            if isEscaped || character != "\\" {
                if character == "\"", !isEscaped { return nil }
                inner.append(character)
                isEscaped = false
            } else {
                isEscaped = true
            }
        }
        return isEscaped ? nil : .some(inner)
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return String(text)
    }
}
