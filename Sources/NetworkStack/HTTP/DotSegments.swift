extension ArraySlice<UInt8> {
    /// The path without the segments `.` and `..` (RFC 3986 section 5.2.4).
    var withoutDotSegments: [UInt8] {
        let dot = UInt8(ascii: ".")
        guard contains(dot) else { return Array(self) }
        var kept: [ArraySlice<UInt8>] = []
        let segments = split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (number, segment) in segments.enumerated() {
            let isAbove = segment.elementsEqual([dot, dot])
            guard isAbove || segment.elementsEqual([dot]) else {
                kept.append(segment)
                continue
            }
            if isAbove, kept.count > 1 { kept.removeLast() }
            if number == segments.count - 1 { kept.append([]) }
        }
        return Array(kept.joined(separator: [UInt8(ascii: "/")]))
    }
}

extension String {
    /// The URL without the segments `.` and `..` in its path, or `nil` if it has none of them.
    package var withoutDotSegments: String? {
        guard utf8.count <= URLText.limit else { return nil }
        var last = UInt8(ascii: ":")
        for byte in utf8 {
            if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { return nil }
            if byte == UInt8(ascii: "."), last == UInt8(ascii: "/") { break }
            last = byte
        }
        guard last == UInt8(ascii: "/") else { return nil }
        let bytes = Array(utf8)
        guard let scheme = bytes.firstRange(of: "://".utf8),
            let start = bytes[scheme.upperBound...].firstIndex(where: \.endsAuthority)
        else { return nil }
        let path = bytes[start...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let kept = path.withoutDotSegments
        guard kept.count < path.count else { return nil }
        return String(decoding: bytes[..<start] + kept + bytes[path.endIndex...], as: UTF8.self)
    }
}
