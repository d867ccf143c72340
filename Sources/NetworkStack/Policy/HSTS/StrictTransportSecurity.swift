/// A `Strict-Transport-Security` field (RFC 6797 section 6.1).
struct StrictTransportSecurity: Equatable {
    /// Seconds for which the host is to be reached over https only; 0 ends it.
    let maxAge: Int64
    /// Whether that goes for the hosts below it, too.
    let includesSubdomains: Bool
}

extension StrictTransportSecurity {
    /// Reads a field's value, or answers `nil` if it breaks the grammar, has a directive twice, or no `max-age`.
    init?(_ field: String) {
        var reader = FieldReader(field)
        var directives: [String: String?] = [:]
        while !reader.isAtEnd {
            reader.skipBlanks()
            if let name = reader.token()?.asciiLowercased {
                var value: String?
                reader.skipBlanks()
                if reader.take(UInt8(ascii: "=")) {
                    reader.skipBlanks()
                    guard let found = reader.parameterValue() else { return nil }
                    value = found
                    reader.skipBlanks()
                }
                guard directives.updateValue(value, forKey: name) == nil else { return nil }
            }
            guard reader.take(UInt8(ascii: ";")) || reader.isAtEnd else { return nil }
        }
        guard case let text?? = directives["max-age"], !text.isEmpty,
            text.utf8.allSatisfy(\.isDigit)
        else { return nil }
        if case .some(.some) = directives["includesubdomains"] { return nil }
        maxAge = Int64(text) ?? .max
        includesSubdomains = directives["includesubdomains"] != nil
    }
}
