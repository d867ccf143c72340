extension ArraySlice<UInt8> {
    /// A path without the segments of dots (RFC 3986 section 5.2.4), which libcurl sends none of.
    package var withoutDotSegments: [UInt8] {
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
