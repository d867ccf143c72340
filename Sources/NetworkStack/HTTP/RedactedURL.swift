package import FoundationEssentials

extension URL {
    /// The URL without what may be secret: user info, query and fragment.
    package var redactedDescription: String { absoluteString.redactedURL }
}

extension String {
    /// The text of a URL, valid or not, without what may be secret: user info before a path, query and fragment.
    var redactedURL: String {
        let bytes = Array(utf8)
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
        var shown = bytes[..<end]
        let rest = shown.drop { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        let hasScheme = rest.first == UInt8(ascii: ":")
        let slashes = (hasScheme ? rest.dropFirst() : rest).prefix { $0 == UInt8(ascii: "/") }
        // A scheme without slashes is a mistake; what follows may be user info all the same.
        if hasScheme || slashes.count > 1 {
            let authority = shown[slashes.endIndex...].prefix { $0 != UInt8(ascii: "/") }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { shown.removeSubrange(authority.startIndex...at) }
        }
        return String(decoding: shown, as: UTF8.self) + (end < bytes.count ? "?…" : "")
    }
}
