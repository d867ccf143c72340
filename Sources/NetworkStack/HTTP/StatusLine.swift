/// The first line of a response's head (RFC 9112 section 4).
package struct StatusLine {
    package let version: HTTP.Version
    /// The status, or `nil` if this package does not support the version.
    package let status: HTTP.StatusCode?

    /// Parses `HTTP/1.1 200 OK`, or `HTTP/2 200`, which libcurl writes where the protocol has no such line. The reason and the
    /// blank before it may be missing. `nil` if it is no status line.
    ///
    /// - Parameter line: The line, with or without its line end.
    package init?(_ line: Span<UInt8>) {
        guard Self.isBegun(by: line), line.count >= 10, let major = line.digit(at: 5) else { return nil }
        // Later versions have no number after the dot.
        let minor = line[6] == UInt8(ascii: ".") ? line.digit(at: 7) : major > 1 ? 0 : nil
        guard let minor else { return nil }
        version = HTTP.Version(major: major, minor: minor)
        var index = line[6] == UInt8(ascii: ".") ? 8 : 6
        let start = index
        while index < line.count, line[index] == UInt8(ascii: " ") { index += 1 }
        guard index > start, let first = line.digit(at: index), first > 0, let second = line.digit(at: index + 1),
            let third = line.digit(at: index + 2)
        else { return nil }
        let end = index + 3 < line.count ? line[index + 3] : UInt8(ascii: "\n")
        guard end == UInt8(ascii: " ") || end == UInt8(ascii: "\r") || end == UInt8(ascii: "\n") else { return nil }
        let isSpoken = major == 1 && minor < 2 || major > 1 && minor == 0
        status = isSpoken ? HTTP.StatusCode(first * 100 + second * 10 + third) : nil
    }

    /// Whether a line begins like a status line.
    package static func isBegun(by line: Span<UInt8>) -> Bool {
        line.count > 5 && line[0] == UInt8(ascii: "H") && line[1] == UInt8(ascii: "T") && line[2] == UInt8(ascii: "T")
            && line[3] == UInt8(ascii: "P") && line[4] == UInt8(ascii: "/")
    }
}

extension Span<UInt8> {
    /// The digit at an index, or `nil`.
    fileprivate func digit(at index: Int) -> Int? {
        index < count && self[index] &- UInt8(ascii: "0") < 10 ? Int(self[index] - UInt8(ascii: "0")) : nil
    }
}
