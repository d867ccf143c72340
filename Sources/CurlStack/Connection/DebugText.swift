internal import NetworkStack

/// A line of libcurl's verbose text (`CURLOPT_VERBOSE`) that reports what nothing else does.
///
/// Before 8.7 only that text has the last stream of a GOAWAY, and before 8.2 the connection over a Unix socket that was chosen.
enum DebugText {
    /// `Re-using existing connection #5 with …`, `Connected to … (#5)`: libcurl's number of the connection it has chosen.
    case connection(UInt32)
    /// `Connection died, retrying …`: libcurl gives the connection up, and looks for another.
    case retry
    /// `received GOAWAY, error=0, last_stream=5`.
    case goAway(GoAway)

    /// Reads a text, most of which mean none of these.
    ///
    /// The marks are looked for at the beginning: the fields of requests are shown, too, and may hold any text.
    init?(_ text: Span<UInt8>) {
        guard !text.isEmpty, text.count < 1000, Self.initials.contains(text[0]) else {
            return nil
        }
        var bytes: [UInt8] = []
        bytes.append(text)
        if let number = Self.connectionNumber(in: bytes) {
            self = .connection(number)
        } else if Self.retryMarks.contains(where: { bytes.starts(with: $0) }) {
            self = .retry
        } else if Self.goAwayMarks.contains(where: { bytes.starts(with: $0) }),
            let place = bytes.firstRange(of: Self.lastStreamMark)
        {
            let code = bytes.firstRange(of: Self.codeMark).map { Self.number(at: $0.upperBound, in: bytes) } ?? 0
            self = .goAway(GoAway(lastStream: Self.number(at: place.upperBound, in: bytes), code: code))
        } else {
            return nil
        }
    }

    private static func connectionNumber(in text: [UInt8]) -> UInt32? {
        if text.starts(with: reuseMark) { return number(at: reuseMark.count, in: text) }
        guard text.starts(with: connectedMark), let place = text.lastIndex(of: UInt8(ascii: "#")) else { return nil }
        return number(at: place + 1, in: text)
    }

    private static func number(at place: Int, in text: [UInt8]) -> UInt32 {
        text[place...].prefix(while: \.isDigit).reduce(0) { $0 &* 10 &+ UInt32($1 - 0x30) }
    }

    /// What the texts that matter begin with.
    private static let initials = Array("rCR".utf8)
    private static let reuseMark = Array("Re-using existing connection #".utf8)
    private static let connectedMark = Array("Connected to ".utf8)
    private static let retryMarks = ["Connection died, ", "REFUSED_STREAM, "].map { Array("\($0)retrying".utf8) }
    /// libcurl 7.88 misspells it.
    private static let goAwayMarks = ["received", "recveived"].map { Array("\($0) GOAWAY, error=".utf8) }
    private static let codeMark = Array("error=".utf8)
    private static let lastStreamMark = Array("last_stream=".utf8)
}
