/// Received header lines, parsed on demand: most fields of most responses are never read.
struct WireFields: Sendable {
    private let bytes: [UInt8]
    /// The length of the body by the fields, if it was parsed already.
    let readLength: Int64??

    init(_ bytes: [UInt8], readLength: Int64?? = nil) {
        self.bytes = bytes
        self.readLength = readLength
    }

    /// Every field, in order.
    var fields: [HTTP.Headers.Field] {
        var fields: [HTTP.Headers.Field] = []
        var isKept = false
        walk { name, value in
            isKept = isToken(name)
            if isKept { fields.append(.init(name: .init(text(name)), value: text(value))) }
        } continuation: { value in
            guard isKept, let last = fields.indices.last else { return }
            fields[last].value += (fields[last].value.isEmpty || value.isEmpty ? "" : " ") + text(value)
        }
        return fields
    }

    /// The values of one name, in order. Bytes that are not UTF-8 are read as Latin-1, or percent-encoded.
    func values(for name: HTTP.HeaderName, escapesBytes: Bool = false) -> [String] {
        var values: [String] = []
        var isWanted = false
        let wanted = name.rawValue.utf8
        walk { candidate, value in
            isWanted = matches(candidate, wanted) && isToken(candidate)
            if isWanted { values.append(text(value, escapesBytes: escapesBytes)) }
        } continuation: { value in
            guard isWanted, let last = values.indices.last else { return }
            values[last] +=
                (values[last].isEmpty || value.isEmpty ? "" : " ") + text(value, escapesBytes: escapesBytes)
        }
        return values
    }

    private func isToken(_ name: Range<Int>) -> Bool { !name.isEmpty && name.allSatisfy { bytes[$0].isTokenByte } }

    private func matches(_ candidate: Range<Int>, _ wanted: String.UTF8View) -> Bool {
        guard candidate.count == wanted.count else { return false }
        var index = candidate.lowerBound
        for byte in wanted {
            if bytes[index].asciiLowercased != byte.asciiLowercased { return false }
            index += 1
        }
        return true
    }

    // Every response is searched for one or two fields, so these are plain loops without allocations.
    @inline(__always)
    private func walk(_ field: (_ name: Range<Int>, _ value: Range<Int>) -> Void, continuation: (Range<Int>) -> Void) {
        let bytes = bytes.span
        var start = 0
        // A line that continues a skipped line is skipped, too.
        var isField = false
        while start < bytes.count {
            var end = start
            var colon = -1
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") {
                if colon < 0, bytes[end] == UInt8(ascii: ":") { colon = end }
                end += 1
            }
            let last = end > start && bytes[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
            if start < last {
                if !bytes[start].isBlank {
                    isField = colon >= 0
                    if isField { field(trimmed(start, colon), trimmed(colon + 1, last)) }
                } else if isField {
                    continuation(trimmed(start, last))
                }
            }
            start = end + 1
        }
    }

    private func trimmed(_ start: Int, _ end: Int) -> Range<Int> {
        var (lower, upper) = (start, end)
        while lower < upper, bytes[lower].isBlank { lower += 1 }
        while upper > lower, bytes[upper - 1].isBlank { upper -= 1 }
        return lower..<upper
    }

    private func text(_ range: Range<Int>, escapesBytes: Bool = false) -> String {
        let slice = bytes[range]
        // Callers must not get either byte (RFC 9110 section 5.5).
        if slice.contains(where: \.endsValue) {
            let legal = WireFields(slice.map { $0.endsValue ? UInt8(ascii: " ") : $0 })
            return legal.text(legal.trimmed(0, range.count), escapesBytes: escapesBytes)
        }
        if let text = String(validating: slice, as: UTF8.self) { return text }
        guard escapesBytes else { return String(decoding: slice.map { UInt16($0) }, as: UTF16.self) }
        var escaped: [UInt8] = []
        for byte in slice { escaped.append(escaping: byte) { $0 < 0x80 } }
        return String(decoding: escaped, as: UTF8.self)
    }
}
