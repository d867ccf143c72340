internal import FoundationEssentials
internal import NetworkStack

/// Reads header lines as libcurl delivers them, keeps them as bytes, and knows when the final head is complete.
///
/// `head` -> (informational heads) -> `content` -> trailers. The checks here are those that libcurl leaves out.
///
/// An object, because each access to a value within one is checked for exclusivity while the program runs, and there are
/// several for every line.
final class HeadReader {
    /// What a line completed.
    enum Step: Equatable {
        case more
        case informational
        case final
        case refused(Fault)
    }

    /// What is wrong with a head.
    enum Fault: Equatable {
        case tooLarge
        /// What should say the status does not (RFC 9112 section 4).
        case noStatus
        case conflictingLengths
        case illegalLength
        /// The first line of the fields continues one that is not there (RFC 9112 section 2.2).
        case continuesNothing
        /// Content in a coding that nobody asked for, and nobody here undoes (RFC 9112 section 6.1).
        case unknownTransferCoding
    }

    /// What is refused as too large.
    var limits: HTTP.Options.Limits
    private let lines = ByteBuffer()
    private var trailerLines: ByteBuffer?
    private var byteCount = 0
    private var fieldCount = 0
    private var isWithinLine = false
    /// Whether an informational head has ended, and another is to follow.
    private var isBetweenHeads = false
    /// What is wrong if the next line continues the last one, which says where the content ends.
    private var faultOfContinuing: Fault?
    /// Whether the next line, if it continues the last one, names codings of the content.
    private var isWithinCodings = false

    /// The status of the head being read, or of the final one.
    private(set) var status: HTTP.StatusCode?
    private(set) var version = HTTP.Version.http1_1
    /// Whether the blank line after the final head has come.
    private(set) var isComplete = false

    /// Most heads fit, and grow no further.
    private static let usualLength = 512

    init(limits: HTTP.Options.Limits) { self.limits = limits }

    /// Forgets what came: it comes again on another connection, or is another transfer's next.
    func startOver() {
        lines.removeAll()
        (trailerLines, byteCount, fieldCount, isWithinLine, isBetweenHeads) = (nil, 0, 0, false, false)
        (faultOfContinuing, isWithinCodings) = (nil, false)
        (status, version, isComplete, isChallenge) = (nil, .http1_1, false, false)
        (saidLength, isChunked, contentCodings) = (nil, false, [])
    }

    /// The length the head announces, in bytes; chunks override it (RFC 9112 section 6.3).
    var contentLength: Int64? { isChunked ? nil : saidLength }
    private var saidLength: Int64?
    /// Whether the content comes in chunks, so that its end is told.
    private(set) var isChunked = false
    /// The codings of the content, in the order they were applied.
    private(set) var contentCodings: [String] = []

    /// Whether the final head, which is complete, asks who is there (Digest), and libcurl may answer that: then another
    /// head follows.
    var isChallenge = false

    /// How many bytes of head there is room for.
    var capacity: Int { lines.capacity }

    /// Whether a field of the head being read has come.
    var hasField: Bool { lines.count > 0 }

    /// Whether anything of a head has come.
    var hasBegun: Bool { byteCount > 0 }

    /// How many bytes of head have come.
    var bytesRead: Int { byteCount }

    /// The lines of the head just completed.
    var headers: HTTP.Headers { HTTP.Headers(lines: lines.array, contentLength: contentLength) }

    /// The lines that came after the content, if any.
    var trailers: HTTP.Headers? { trailerLines.map { HTTP.Headers(lines: $0.array) } }

    /// The response that begins with the head just completed.
    func response(to request: HTTP.Request) -> HTTP.Response? {
        status.map { HTTP.Response(status: $0, version: version, headers: headers, url: request.url) }
    }

    func read(_ line: Span<UInt8>) -> Step {
        byteCount += line.count
        // Within a head, a field may have a name that looks like a status line.
        let begins = status == nil || isBetweenHeads || isChallenge && Self.isStatusLine(line)
        fieldCount = begins ? 0 : fieldCount + 1
        guard byteCount <= limits.head, fieldCount - 1 <= limits.headFields else { return .refused(.tooLarge) }
        if begins {
            // If it comes after a challenge, libcurl has answered that, and this is what the server says now.
            (isComplete, isChallenge, isBetweenHeads) = (false, false, false)
            begin(with: line)
            return status == nil ? .refused(.noStatus) : .more
        }
        if isComplete {
            return line.count > 2 ? keep(trailer: line) : .more
        }
        guard Self.isBlank(line) else {
            if Self.isFolded(line) {
                if lines.count == 0 { return .refused(.continuesNothing) }
                // libcurl reads such a field up to the end of its first line, and others all of it.
                if let faultOfContinuing { return .refused(faultOfContinuing) }
                if isWithinCodings { readCodings(line, from: 0) }
            } else {
                (faultOfContinuing, isWithinCodings) = (nil, false)
            }
            guard lines.append(line, expecting: Self.usualLength) else { return .refused(.tooLarge) }
            return readFraming(line)
        }
        guard let status, status.statusClass != .informational || status == .switchingProtocols else {
            isBetweenHeads = true
            return .informational
        }
        isComplete = true
        return .final
    }

    private func keep(trailer line: Span<UInt8>) -> Step {
        let lines = trailerLines ?? ByteBuffer()
        trailerLines = lines
        return lines.append(line, expecting: Self.usualLength) ? .more : .refused(.tooLarge)
    }

    /// Whether what is about to be a line of the head may be taken for one: a line that continues another needs another.
    ///
    /// libcurl asks this before it looks at the line itself (``CurlLibrary/forgetsHeads``). A long line comes in pieces.
    func mayFollow(_ piece: Span<UInt8>) -> Bool {
        guard lines.count == 0, let last = piece.indices.last else { return true }
        defer { isWithinLine = piece[last] != UInt8(ascii: "\n") }
        return isWithinLine || !Self.isFolded(piece)
    }

    private static func isFolded(_ line: Span<UInt8>) -> Bool {
        line[0].isBlank
    }

    /// A new head begins, after an informational one, after a challenge and all that it had, or at the start.
    private func begin(with line: Span<UInt8>) {
        lines.removeAll()
        trailerLines = nil
        (saidLength, isChunked, contentCodings) = (nil, false, [])
        (faultOfContinuing, isWithinCodings) = (nil, false)
        (status, version) = Self.parse(statusLine: line)
    }

    /// Reads the fields that say how long the content is and what was done to it.
    private func readFraming(_ line: Span<UInt8>) -> Step {
        switch line[0] | 0x20 {
        case UInt8(ascii: "c"):
            // By the letter after `content-`: most heads have other fields that begin like these, and no name is looked at for them.
            switch line.count > 8 ? line[8] | 0x20 : 0 {
            case UInt8(ascii: "l"):
                guard let start = Self.value(of: Self.contentLengthName, in: line) else { break }
                faultOfContinuing = .illegalLength
                return readLength(line, from: start)
            case UInt8(ascii: "e"):
                guard let start = Self.value(of: Self.contentEncodingName, in: line) else { break }
                isWithinCodings = true
                readCodings(line, from: start)
            default: break
            }
        case UInt8(ascii: "t"):
            if let start = Self.value(of: Self.transferEncodingName, in: line) {
                faultOfContinuing = .unknownTransferCoding
                // libcurl does not know one with a blank before its colon, and takes chunks for content.
                let isKnown = start == Self.transferEncodingName.count + 1
                return isKnown ? readTransferCodings(line, from: start) : .refused(.unknownTransferCoding)
            }
        default: break
        }
        return .more
    }

    private func readTransferCodings(_ line: Span<UInt8>, from start: Int) -> Step {
        var isIdentity = false
        for name in CodingList.names(line, from: start) {
            switch name.lowercased() {
            // RFC 2616 knew it. libcurl 8.1 to 8.13 read no further in its line, and take chunks for content.
            case "identity": isIdentity = true
            case "chunked" where !isIdentity: isChunked = true
            default: return .refused(.unknownTransferCoding)
            }
        }
        return .more
    }

    private func readCodings(_ line: Span<UInt8>, from start: Int) {
        // A server may name thousands, line by line, and each line makes the list anew.
        guard contentCodings.count <= ContentCoding.mostNested else { return }
        // Put in place whole: where a list grows in place, every reading of it is checked for exclusivity.
        contentCodings = contentCodings + CodingList.contentCodings(line, from: start)
    }

    private static let contentLengthName = Array("content-length".utf8)
    private static let contentEncodingName = Array("content-encoding".utf8)
    private static let transferEncodingName = Array("transfer-encoding".utf8)

    private func readLength(_ line: Span<UInt8>, from start: Int) -> Step {
        switch ContentLength.read(line, from: start, after: saidLength) {
        case .length(let length):
            saidLength = length
            return .more
        case .illegal: return .refused(.illegalLength)
        case .conflicting: return .refused(.conflictingLengths)
        }
    }

    /// Where the value begins, if the line is of this name (given in lower case).
    private static func value(of name: [UInt8], in line: Span<UInt8>) -> Int? {
        guard line.count > name.count else { return nil }
        // From its end: many names that are not this one begin like it.
        for index in name.indices.reversed() where line[index] | 0x20 != name[index] | 0x20 { return nil }
        var index = name.count
        while index < line.count, line[index].isBlank { index += 1 }
        return index < line.count && line[index] == UInt8(ascii: ":") ? index + 1 : nil
    }

    private static func isBlank(_ line: Span<UInt8>) -> Bool {
        line.count <= 2 && line.indices.allSatisfy { line[$0] == UInt8(ascii: "\r") || line[$0] == UInt8(ascii: "\n") }
    }

    private static func isStatusLine(_ line: Span<UInt8>) -> Bool {
        line.count > 5 && line[0] == UInt8(ascii: "H") && line[1] == UInt8(ascii: "T") && line[2] == UInt8(ascii: "T")
            && line[3] == UInt8(ascii: "P") && line[4] == UInt8(ascii: "/")
    }

    /// `HTTP/1.1 200 OK` or `HTTP/2 200`; libcurl has checked it.
    private static func parse(statusLine line: Span<UInt8>) -> (HTTP.StatusCode?, HTTP.Version) {
        guard isStatusLine(line) else { return (nil, .http1_1) }
        var index = 5
        var numbers = [0, 0]
        var part = 0
        while index < line.count, line[index] != UInt8(ascii: " ") {
            if line[index] == UInt8(ascii: ".") { part = 1 } else { numbers[part] = Int(line[index] &- 48) }
            index += 1
        }
        while index < line.count, line[index] == UInt8(ascii: " ") { index += 1 }
        var code = 0
        var digits = 0
        while index < line.count, digits < 3, line[index] &- 48 < 10 {
            code = code * 10 + Int(line[index] - 48)
            index += 1
            digits += 1
        }
        return (digits == 3 ? HTTP.StatusCode(code) : nil, HTTP.Version(major: numbers[0], minor: numbers[1]))
    }
}
