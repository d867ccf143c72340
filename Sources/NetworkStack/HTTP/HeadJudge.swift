/// Checks the lines of a received head, in the same way for every backend: each is a field, and together they define where the
/// body ends (RFC 9112 sections 5.1 and 6).
@usableFromInline
package struct HeadJudge {
    /// The fault of a head.
    package enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// A line has no colon, or its name is no token. Blanks before the colon are allowed.
        case noField
        case conflictingLengths
        case illegalLength
        /// Transfer-Encoding is not exactly one `chunked`, or the version is not HTTP/1.1. Parsers disagree about anything else.
        case transferEncoding

        /// The fault, in a sentence that names the field.
        package var description: String {
            switch self {
            case .noField:
                "The response has a line that is no field, as its name is no token (RFC 9112 section 5.1)."
            case .conflictingLengths: "The response has Content-Lengths that differ (RFC 9112 section 6.3)."
            case .illegalLength: "The response's Content-Length is not a length (RFC 9112 section 6.3)."
            case .transferEncoding:
                "The response's Transfer-Encoding is not one chunked over HTTP/1.1 (RFC 9112 section 6.1)."
            }
        }
    }

    /// Whether the body is sent in chunks, so that its end is marked.
    @usableFromInline
    package private(set) var isChunked = false
    /// The codings of the body, in the order in which they were applied, without `identity` and `none`.
    package private(set) var contentCodings: [String] = []
    /// How long the server keeps an idle connection, in seconds (`Keep-Alive: timeout=5`).
    package private(set) var keepAlive: Int?
    @usableFromInline
    private(set) var announcedLength: Int64?
    private var version = HTTP.Version.http1_1
    /// The fault if the next line continues the last one, which decides where the body ends.
    private var faultOfContinuing: Fault?
    /// Whether the last line named codings of the body.
    private var isWithinCodings = false

    /// A longer list of codings is not read on.
    package static let mostCodings = 5

    package init() {}

    /// The length that Content-Length announces, in bytes. Chunks override it (RFC 9112 section 6.3).
    @inlinable  // so that reading it copies nothing
    package var contentLength: Int64? { isChunked ? nil : announcedLength }

    /// Resets the state for another head.
    package mutating func begin(_ version: HTTP.Version) {
        self.version = version
        (isChunked, contentCodings, keepAlive, announcedLength) = (false, [], nil, nil)
        (faultOfContinuing, isWithinCodings) = (nil, false)
    }

    /// Checks a line that continues the one before (RFC 9112 section 5.2). Some parsers end a field at its first line.
    package mutating func read(continuation line: Span<UInt8>) -> Fault? {
        if isWithinCodings { readCodings(line, from: 0) }
        return faultOfContinuing
    }

    /// Checks a field line.
    ///
    /// - Parameter line: `name: value`, with or without its line end.
    /// - Returns: The fault of the line, alone or together with earlier ones, or `nil`.
    package mutating func read(_ line: Span<UInt8>) -> Fault? {
        (faultOfContinuing, isWithinCodings) = (nil, false)
        guard let (nameLength, colon) = Self.colon(in: line) else { return .noField }
        switch nameLength {
        case 10 where Self.isName(Self.keepAliveName, of: line):
            keepAlive = KeepAlive.timeout(in: Self.text(of: line, from: colon + 1)) ?? keepAlive
        case 14 where Self.isName(Self.contentLengthName, of: line):
            faultOfContinuing = .illegalLength
            return readLength(line, from: colon + 1)
        case 16 where Self.isName(Self.contentEncodingName, of: line):
            isWithinCodings = true
            readCodings(line, from: colon + 1)
        case 17 where Self.isName(Self.transferEncodingName, of: line):
            faultOfContinuing = .transferEncoding
            // libcurl ignores one with a blank before its colon, and takes chunks for the body.
            guard !isChunked, version == .http1_1, colon == nameLength, Self.isChunkedAlone(line, from: colon + 1)
            else {
                return .transferEncoding
            }
            isChunked = true
        default: break
        }
        return nil
    }

    /// Whether a line is a field. In a head, all lines are that do not continue another.
    package static func isField(_ line: Span<UInt8>) -> Bool { colon(in: line) != nil }

    /// The length of the field's name, and the position of its colon.
    @inline(__always)
    private static func colon(in line: Span<UInt8>) -> (nameLength: Int, colon: Int)? {
        var index = 0
        while index < line.count, line[index].isTokenByte { index += 1 }
        let nameLength = index
        while index < line.count, line[index].isBlank { index += 1 }
        guard nameLength > 0, index < line.count, line[index] == UInt8(ascii: ":") else { return nil }
        return (nameLength, index)
    }

    private mutating func readLength(_ line: Span<UInt8>, from start: Int) -> Fault? {
        switch ContentLength.read(line, from: start, after: announcedLength) {
        case .length(let length):
            announcedLength = length
            return nil
        case .illegal: return .illegalLength
        case .conflicting: return .conflictingLengths
        }
    }

    private mutating func readCodings(_ line: Span<UInt8>, from start: Int) {
        // A server may send thousands of lines, and each line makes a new list.
        guard contentCodings.count <= Self.mostCodings else { return }
        contentCodings += CodingList.contentCodings(line, from: start)
    }

    /// Whether a value is `chunked` and nothing else.
    private static func isChunkedAlone(_ line: Span<UInt8>, from start: Int) -> Bool {
        text(of: line, from: start).trimmingLineBlanks.elementsEqual("chunked".utf8) { $0.asciiLowercased == $1 }
    }

    private static func text(of line: Span<UInt8>, from start: Int) -> ArraySlice<UInt8> {
        line.indices[start...].map { line[$0] }[...]
    }

    /// Whether the line begins with a name, given in lower case. Compares from the end, because many names share their beginning.
    private static func isName(_ name: [UInt8], of line: Span<UInt8>) -> Bool {
        for index in name.indices.reversed() where line[index] | 0x20 != name[index] | 0x20 { return false }
        return true
    }

    private static let keepAliveName = Array("keep-alive".utf8)
    private static let contentLengthName = Array("content-length".utf8)
    private static let contentEncodingName = Array("content-encoding".utf8)
    private static let transferEncodingName = Array("transfer-encoding".utf8)
}

extension ArraySlice<UInt8> {
    /// Without blanks and line ends at both ends.
    fileprivate var trimmingLineBlanks: ArraySlice<UInt8> {
        let isOuter = { (byte: UInt8) in byte.isBlank || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") }
        guard let last = lastIndex(where: { !isOuter($0) }) else { return [] }
        return self[...last].drop(while: isOuter)
    }
}
