/// A `Strict-Transport-Security` field (RFC 6797 section 6.1).
struct StrictTransportSecurity: Equatable {
    /// How long the host requires https, in seconds; 0 ends it.
    let maxAge: Int64
    /// Whether it applies to the hosts below, too.
    let includesSubdomains: Bool
}

extension StrictTransportSecurity {
    /// Parses a field's value; `nil` if it violates the grammar, has a directive twice, or has no `max-age`.
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
