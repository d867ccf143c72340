internal import FoundationEssentials
internal import NetworkStack

/// Reads header lines as libcurl delivers them, keeps them as bytes, and knows when the final head is complete.
///
/// Informational heads come first, then the final head; trailers follow the body, which does not come here. The checks here are those
/// that libcurl leaves out.
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
        case tooLong
        case tooManyFields
        /// What should be the status line is none (RFC 9112 section 4).
        case noStatus
        /// The first line of the fields continues one that is not there (RFC 9112 section 2.2).
        case continuesNothing
        case judged(HeadJudge.Fault)
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
    /// Reads the fields that frame the body.
    @safe @exclusivity(unchecked)
    private var judge = HeadJudge()

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
        (status, version, isComplete, isChallenge) = (nil, .http1_1, false, false)
        judge.begin(version)
    }

    /// The length the head announces, in bytes; chunks override it (RFC 9112 section 6.3).
    var contentLength: Int64? { judge.contentLength }
    /// Whether the body comes in chunks, so that its end is marked.
    var isChunked: Bool { judge.isChunked }
    /// The codings of the body, in the order they were applied.
    var contentCodings: [String] { judge.contentCodings }
    /// How long the server keeps the connection once it is unused, in seconds.
    var keepAlive: Int? { judge.keepAlive }

    /// Whether the final head, which is complete, is a challenge (Digest) that libcurl may answer: then another head
    /// follows.
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

    /// The lines that came after the body, if any.
    var trailers: HTTP.Headers? { trailerLines.map { HTTP.Headers(lines: $0.array) } }

    /// The response that begins with the head just completed.
    func response(to request: HTTP.Request) -> HTTP.Response? {
        status.map { HTTP.Response(status: $0, version: version, headers: headers, url: request.url) }
    }

    func read(_ line: Span<UInt8>) -> Step {
        byteCount += line.count
        // Within a head, a field may have a name that looks like a status line.
        let begins = status == nil || isBetweenHeads || isChallenge && StatusLine.isBegun(by: line)
        fieldCount = begins ? 0 : fieldCount + 1
        if byteCount > limits.head { return .refused(.tooLong) }
        if fieldCount - 1 > limits.headFields { return .refused(.tooManyFields) }
        if begins {
            // If it comes after a challenge, libcurl has answered that, and this is the response.
            (isComplete, isChallenge, isBetweenHeads) = (false, false, false)
            begin(with: line)
            return status == nil ? .refused(.noStatus) : .more
        }
        if isComplete {
            return line.count > 2 ? keep(trailer: line) : .more
        }
        guard Self.isBlank(line) else {
            let isFolded = Self.isFolded(line)
            if isFolded, lines.count == 0 { return .refused(.continuesNothing) }
            guard lines.append(line, expecting: Self.usualLength) else { return .refused(.tooLong) }
            let fault = isFolded ? judge.read(continuation: line) : judge.read(line)
            return fault.map { .refused(.judged($0)) } ?? .more
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
        guard lines.append(line, expecting: Self.usualLength) else { return .refused(.tooLong) }
        return HeadJudge.isField(line) || Self.isFolded(line) ? .more : .refused(.judged(.noField))
    }

    /// Whether the head may have this line next: a folded line (`obs-fold`, RFC 9112 section 5.2) needs a field line before it.
    ///
    /// libcurl asks this before it looks at the line itself (``LibcurlQuirks/foldedFirstLine``). A long line comes in pieces.
    func mayFollow(_ piece: RawSpan) -> Bool {
        guard lines.count == 0, let first = piece.firstByte else { return true }
        defer { isWithinLine = piece.lastByte != UInt8(ascii: "\n") }
        return isWithinLine || !first.isBlank
    }

    private static func isFolded(_ line: Span<UInt8>) -> Bool {
        line[0].isBlank
    }

    /// A new head begins, after an informational one, after a challenge and all that it had, or at the start.
    private func begin(with line: Span<UInt8>) {
        lines.removeAll()
        trailerLines = nil
        let statusLine = StatusLine(line)
        (status, version) = (statusLine?.status, statusLine?.version ?? .http1_1)
        judge.begin(version)
    }

    private static func isBlank(_ line: Span<UInt8>) -> Bool {
        line.count <= 2 && line.indices.allSatisfy { line[$0] == UInt8(ascii: "\r") || line[$0] == UInt8(ascii: "\n") }
    }
}
