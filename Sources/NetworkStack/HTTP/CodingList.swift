/// Parses the lists of `Content-Encoding` and `Transfer-Encoding` (RFC 9110 sections 5.6.1 and 8.4, RFC 9112 section 6.1).
package enum CodingList {
    /// The names of the codings as written, in the order in which they were applied. Empty members are skipped.
    ///
    /// A member with illegal characters is returned as it is: no decoder knows it.
    ///
    /// - Parameters:
    ///   - line: The line, with or without its line end.
    ///   - start: Where the value begins in it.
    /// - Returns: The names.
    package static func names(_ line: Span<UInt8>, from start: Int = 0) -> [String] {
        var value: [UInt8] = []
        for index in start..<line.count {
            let isLineEnd = line[index] == UInt8(ascii: "\r") || line[index] == UInt8(ascii: "\n")
            value.append(isLineEnd ? UInt8(ascii: " ") : line[index])
        }
        return value.split(separator: UInt8(ascii: ",")).compactMap { member in
            let name = member.withoutOuterBlanks
            return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        }
    }

    /// The codings of a body that have to be decoded: all except `identity`, and `none`, which some servers send for it.
    ///
    /// - Parameters:
    ///   - line: The line, with or without its line end.
    ///   - start: Where the value begins in it.
    /// - Returns: The names.
    package static func contentCodings(_ line: Span<UInt8>, from start: Int = 0) -> [String] {
        names(line, from: start).filter { !["identity", "none"].contains($0.asciiLowercased) }
    }
}
