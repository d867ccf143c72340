/// Reads the lists of `Content-Encoding` and `Transfer-Encoding` (RFC 9110 sections 5.6.1 and 8.4, RFC 9112 section 6.1).
package enum CodingList {
    /// The names of the codings, as they are and in the order they were applied. Empty members do not count.
    ///
    /// A member with something in it that no name has is delivered as it is: no decoder knows it.
    ///
    /// - Parameters:
    ///   - line: The line, with its line end or without.
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

    /// The codings of content that have to be undone: all but `identity`, and `none`, which some servers send for it.
    ///
    /// - Parameters:
    ///   - line: The line, with its line end or without.
    ///   - start: Where the value begins in it.
    /// - Returns: The names.
    package static func contentCodings(_ line: Span<UInt8>, from start: Int = 0) -> [String] {
        names(line, from: start).filter { !["identity", "none"].contains($0.asciiLowercased) }
    }
}
