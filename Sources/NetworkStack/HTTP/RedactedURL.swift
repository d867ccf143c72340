package import FoundationEssentials

extension URL {
    /// The URL without what may be secret: user info, query and fragment.
    package var redactedDescription: String { absoluteString.redactedURL }
}

extension String {
    /// The text of a URL, valid or not, without what may be secret.
    var redactedURL: String {
        let bytes = Array(utf8)
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
        var shown = bytes[..<end]
        if let slash = shown.firstIndex(of: UInt8(ascii: "/")), slash + 2 <= end, shown[slash + 1] == UInt8(ascii: "/")
        {
            let authorityEnd = shown[(slash + 2)...].firstIndex(of: UInt8(ascii: "/")) ?? end
            if let at = shown[(slash + 2)..<authorityEnd].lastIndex(of: UInt8(ascii: "@")) {
                shown.removeSubrange((slash + 2)...at)
            }
        }
        return String(decoding: shown, as: UTF8.self) + (end < bytes.count ? "?…" : "")
    }
}
