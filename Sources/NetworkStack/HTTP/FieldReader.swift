/// Parses the building blocks of field values: tokens, quoted strings, blanks (RFC 9110 section 5.6).
struct FieldReader {
    private let bytes: [UInt8]
    private var position = 0
    /// Whether an unclosed quote was found. Then no later quote is closed either, and the search is skipped.
    private var hasOpenQuote = false

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    /// Skips spaces and tabs.
    mutating func skipBlanks() { skip(\.isBlank) }

    /// Skips the bytes of a kind.
    mutating func skip(_ isOfKind: (UInt8) -> Bool) {
        while position < bytes.count, isOfKind(bytes[position]) { position += 1 }
    }

    /// Skips this byte, if it is next.
    mutating func take(_ byte: UInt8) -> Bool {
        guard isAt(byte) else { return false }
        position += 1
        return true
    }

    /// The next token, or `nil` if there is none.
    mutating func token() -> String? { text(of: \.isTokenByte) }

    /// The next bytes of a kind, or `nil` if there are none.
    mutating func text(of isOfKind: (UInt8) -> Bool) -> String? {
        let start = position
        skip(isOfKind)
        return start == position ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Whether this byte is next.
    func isAt(_ byte: UInt8) -> Bool { position < bytes.count && bytes[position] == byte }

    /// Whether a space or a tab is next.
    var isAtBlank: Bool { position < bytes.count && bytes[position].isBlank }

    /// The text of the next quoted string, unescaped, or `nil` if there is none.
    ///
    /// - Parameter mayStayOpen: Whether an unclosed quote extends to the end of the field; otherwise it is no quoted string.
    /// - Returns: The text.
    mutating func quotedString(mayStayOpen: Bool = false) -> String? {
        let start = position
        guard !hasOpenQuote, take(UInt8(ascii: "\"")) else { return nil }
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\") where position < bytes.count:
                text.append(bytes[position])
                position += 1
            default: text.append(byte)
            }
        }
        if mayStayOpen { return String(decoding: text, as: UTF8.self) }
        (position, hasOpenQuote) = (start, true)
        return nil
    }

    /// A parameter's value: a token or a quoted string.
    mutating func parameterValue() -> String? { quotedString() ?? token() }

    /// The text up to this byte or the end; the byte inside a quoted string does not count. The byte itself is not skipped.
    mutating func text(to byte: UInt8) -> String {
        let start = position
        while position < bytes.count, bytes[position] != byte {
            if quotedString() == nil { position += 1 }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }
}

extension String {
    /// The text as a parameter's value: unchanged if it is a token, otherwise a quoted string.
    var asParameterValue: String {
        HTTP.Headers.isLegal(name: self) ? self : asQuotedString
    }

    /// The text as a quoted string (RFC 9110 section 5.6.4).
    package var asQuotedString: String {
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { quoted.append(UInt8(ascii: "\\")) }
            quoted.append(byte)
        }
        quoted.append(UInt8(ascii: "\""))
        return String(decoding: quoted, as: UTF8.self)
    }

    /// The text with its ASCII letters in lower case.
    var asciiLowercased: String {
        if utf8.allSatisfy({ $0 == $0.asciiLowercased }) { return self }
        return String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self)
    }
}
