internal import FoundationEssentials

/// The text of a URL or of a relative reference, as a caller or a server wrote it.
///
/// Text that parsers read differently is refused, never escaped: if one treats a backslash as a slash and another as a part of a
/// password, they send the request to different hosts. Illegal characters of a path, query or fragment are escaped.
enum URLText {
    /// The longest URL, in bytes (RFC 9110 section 4.1 asks for 8,000).
    static let limit = 65_536

    /// Why a text is refused.
    enum Fault: Error {
        case tooLong, control, outerBlank, backslash, authority, host, notURL
    }

    /// Parses a text.
    ///
    /// - Parameters:
    ///   - text: A URL, or a relative reference.
    ///   - base: The base of a relative reference.
    /// - Returns: The URL, its host in ASCII. Escapes are kept.
    /// - Throws: ``Fault``.
    static func url(_ text: String, relativeTo base: URL? = nil) throws(Fault) -> URL {
        try check(text)
        let bytes = text.utf8
        let range = authorityRange(in: bytes)
        let ascii = try asciiAuthority(bytes[range])
        if ascii == nil, base == nil, let url = URL(string: text, encodingInvalidCharacters: false) { return url }
        let whole = ascii.map { text[..<range.lowerBound] + $0 + text[range.upperBound...] } ?? text[...]
        guard let url = URL(string: escaped(String(whole)), relativeTo: base)?.absoluteURL else { throw .notURL }
        return url
    }

    /// Refuses bytes that no part of a URL may have. A text that is too long is not read.
    static func check(_ text: String) throws(Fault) {
        let bytes = text.utf8
        guard bytes.count <= limit else { throw .tooLong }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw .control }
        guard bytes.first != UInt8(ascii: " "), bytes.last != UInt8(ascii: " ") else { throw .outerBlank }
        let beforeQuery = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard !beforeQuery.contains(UInt8(ascii: "\\")) else { throw .backslash }
    }

    /// Checks `[user info@]host[:port]`: at most one `@`, complete escapes, and only legal bytes (RFC 3986 section 3.2).
    ///
    /// - Returns: The same with the host's A-labels, or `nil` if it is ASCII already.
    /// - Throws: ``Fault``.
    static func asciiAuthority(_ bytes: Substring.UTF8View) throws(Fault) -> String? {
        let parts = bytes.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count <= 2, let named = parts.last, bytes.percentDecoded != nil else { throw .authority }
        let isLegal = { (byte: UInt8) in byte.isPathByte || byte == UInt8(ascii: "%") }
        guard parts.dropLast().joined().allSatisfy(isLegal) else { throw .authority }
        let end = named.lastIndex(of: UInt8(ascii: ":")) ?? named.endIndex
        let isLegalInHost = { (byte: UInt8) in isLegal(byte) || "[]".utf8.contains(byte) }
        guard named[end...].allSatisfy(isLegalInHost) else { throw .authority }
        guard named[..<end].contains(where: { $0 >= 0x80 }) else {
            guard named[..<end].allSatisfy(isLegalInHost) else { throw .authority }
            return nil
        }
        guard let host = DomainName.ascii(Substring(named[..<end])) else { throw .host }
        return String(Substring(bytes[..<named.startIndex])) + host + String(Substring(named[end...]))
    }

    /// The range of the authority; empty if there is none.
    private static func authorityRange(in bytes: String.UTF8View) -> Range<String.Index> {
        guard let slash = bytes.firstIndex(where: \.endsAuthority), bytes[slash...].starts(with: "//".utf8),
            slash == bytes.startIndex || bytes[bytes.index(before: slash)] == UInt8(ascii: ":")
        else { return bytes.startIndex..<bytes.startIndex }
        let start = bytes.index(slash, offsetBy: 2)
        return start..<(bytes[start...].firstIndex(where: \.endsAuthority) ?? bytes.endIndex)
    }

    /// The text, with illegal characters of path, query and fragment escaped.
    ///
    /// Foundation escapes those, too, but with them every escape in the same component: `/a%20b c` would become `/a%2520b%20c`.
    static func escaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let authorityEnd = authorityRange(in: text.utf8).upperBound
        let start = text.utf8.distance(from: text.startIndex, to: authorityEnd)
        var escaped = Array(bytes[..<start])
        var isInFragment = false
        for place in bytes.indices[start...] {
            switch bytes[place] {
            case UInt8(ascii: "%") where bytes[(place + 1)...].prefix(2).count { $0.isHexDigit } == 2,
                UInt8(ascii: "#") where !isInFragment:
                isInFragment = isInFragment || bytes[place] == UInt8(ascii: "#")
                escaped.append(bytes[place])
            case let byte: escaped.append(escaping: byte) { $0 == UInt8(ascii: "?") || $0.isPathByte }
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

extension URLText.Fault {
    /// The fault of a request's URL, and what to change.
    var reason: String {
        switch self {
        case .tooLong: "The URL is longer than \(URLText.limit) bytes."
        case .control: "The URL has a control character; percent-encode it."
        case .outerBlank: "The URL begins or ends with a blank."
        case .backslash: "The URL has a backslash before its query, which some take for a slash; percent-encode it."
        case .authority:
            "The URL has a character that has no place in a host or port, and in user info only percent-encoded."
        case .host: "The URL's host is not ASCII and cannot be converted; give its A-label (the xn-- form) instead."
        case .notURL: "The text is not a URL, which begins with http:// or https://."
        }
    }

    /// The fault of a redirect's target.
    var target: String {
        switch self {
        case .tooLong: "a text of more than \(URLText.limit) bytes"
        case .control: "a text with a control character"
        case .outerBlank: "a text with a blank at an end"
        case .backslash: "a text with a backslash before its query"
        case .authority: "an authority with a character that has no place in it"
        case .host: "a host that is not ASCII and cannot be converted"
        case .notURL: "a text that is no URL"
        }
    }
}
