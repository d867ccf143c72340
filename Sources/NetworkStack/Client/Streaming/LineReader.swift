internal import FoundationEssentials

/// Reads the lines of a stream, as bytes, without their ends. Of server-sent events, a last line without an end is dropped, unless
/// `keepsRest` is set.
///
/// It keeps the bytes that it has read ahead, so a later iterator misses nothing. A second reader is refused as long as one reads,
/// not only while that waits: bytes would be added out of order.
final class LineReader<Failure: ByteStreamFailure>: Sendable {
    let stream: ByteStream<Failure>
    private let buffer: Lock<LineBuffer>
    private let isReading = Lock(false)
    /// Makes the stream's error of one that its lines lead to.
    let undecodable: @Sendable (any Error) -> Failure

    init(
        _ stream: ByteStream<Failure>,
        ending: LineBuffer.Ending,
        keepsRest: Bool = false,
        limit: Int,
        undecodable: @escaping @Sendable (any Error) -> Failure
    ) {
        self.stream = stream
        buffer = Lock(LineBuffer(ending: ending, keepsRest: keepsRest, limit: limit))
        self.undecodable = undecodable
    }

    /// The next line, or `nil` at the end.
    func next() async throws(Failure) -> ArraySlice<UInt8>? {
        guard !isReading.withLock({ exchange(&$0, with: true) }) else { throw .concurrentRead }
        defer { isReading.withLock { $0 = false } }
        var chunks = stream.makeAsyncIterator()
        while true {
            if let line = try take({ buffer throws(LineTooLong) in try buffer.next() }) { return line }
            guard let chunk = try await chunks.next() else {
                return try take { buffer throws(LineTooLong) in try buffer.rest() }
            }
            buffer.withLock { $0.append(chunk) }
        }
    }

    private func take(
        _ line: (inout LineBuffer) throws(LineTooLong) -> ArraySlice<UInt8>?
    ) throws(Failure) -> ArraySlice<UInt8>? {
        do { return try buffer.withLock(line) } catch { throw undecodable(error) }
    }
}

/// Takes bytes apart into lines.
struct LineBuffer {
    /// What ends a line.
    enum Ending {
        /// LF or CRLF; or the end of the text.
        case lineFeeds
        /// LF, CRLF or CR (HTML Living Standard, section 9.2.5). What the end of the text cuts short is a line only if
        /// `keepsRest`.
        case lineFeedsAndReturns
    }

    private let ending: Ending
    private let keepsRest: Bool
    private let limit: Int
    private var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// Where nothing has been looked at yet.
    private var searched = 0
    /// A return has ended the line before; a line feed that follows belongs to it.
    private var passesLineFeed = false

    private static let lineFeed = UInt8(ascii: "\n")
    private static let `return` = UInt8(ascii: "\r")

    init(ending: Ending, keepsRest: Bool = false, limit: Int) {
        self.ending = ending
        self.keepsRest = keepsRest
        self.limit = limit
    }

    mutating func append(_ chunk: some Collection<UInt8>) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        bytes.append(contentsOf: chunk)
    }

    /// The next line that has come to its end.
    mutating func next() throws(LineTooLong) -> ArraySlice<UInt8>? {
        if passesLineFeed, start < bytes.count {
            if bytes[start] == Self.lineFeed { start += 1 }
            (searched, passesLineFeed) = (start, false)
        }
        guard let end = bytes[searched...].firstIndex(where: endsLine) else {
            searched = bytes.count
            guard textEnd(searched) - start <= limit else { throw LineTooLong(limit: limit) }
            return nil
        }
        let line = try line(endingAt: end)
        (start, searched) = (end + 1, end + 1)
        return line
    }

    /// What is left after the last end of a line, if that is a line.
    mutating func rest() throws(LineTooLong) -> ArraySlice<UInt8>? {
        guard start < bytes.count, ending == .lineFeeds || keepsRest else { return nil }
        defer { (start, searched) = (bytes.count, bytes.count) }
        guard bytes.count - start <= limit else { throw LineTooLong(limit: limit) }
        return bytes[start...]
    }

    private func endsLine(_ byte: UInt8) -> Bool {
        byte == Self.lineFeed || (byte == Self.return && ending == .lineFeedsAndReturns)
    }

    private mutating func line(endingAt end: Int) throws(LineTooLong) -> ArraySlice<UInt8> {
        let textEnd = textEnd(end)
        guard textEnd - start <= limit else { throw LineTooLong(limit: limit) }
        if ending == .lineFeedsAndReturns { passesLineFeed = end < bytes.count && bytes[end] == Self.return }
        return bytes[start..<textEnd]
    }

    /// Where a line that goes this far ends, without a return that belongs to its end.
    private func textEnd(_ end: Int) -> Int {
        ending == .lineFeeds && end > start && bytes[end - 1] == Self.return ? end - 1 : end
    }
}
