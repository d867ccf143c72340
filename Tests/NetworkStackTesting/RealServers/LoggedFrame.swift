/// An HTTP/2 frame in the verbose log of nghttpd.
public struct LoggedFrame: Sendable, Equatable, CustomStringConvertible {
    /// The direction of the frame.
    public enum Direction: Sendable, Equatable {
        /// From the client.
        case received
        /// To the client.
        case sent
    }

    /// nghttpd's number of the connection, from 1.
    public let connection: Int
    /// The direction of the frame.
    public let direction: Direction
    /// `HEADERS`, `DATA`, `RST_STREAM`, `GOAWAY` ...
    public let type: String
    /// The length of the payload in bytes.
    public let length: Int
    /// The flags as sent.
    public let flags: UInt8
    /// The stream; 0 is the connection.
    public let stream: Int
    /// The error of RST_STREAM and GOAWAY, as `CANCEL` or `NO_ERROR`; nil for others.
    public internal(set) var errorCode: String?

    /// Connection, direction, type, stream and error.
    public var description: String {
        "[\(connection)] \(direction) \(type) stream \(stream), \(length) bytes" + (errorCode.map { ", \($0)" } ?? "")
    }

    /// Parses lines such as `[id=1] [  0.407] recv RST_STREAM frame <length=4, flags=0x00, stream_id=1>` and, below such a line,
    /// `(error_code=CANCEL(0x08))`; skips all others.
    static func parse(_ log: String) -> [LoggedFrame] {
        var frames: [LoggedFrame] = []
        for line in log.split(separator: "\n") {
            if line.hasPrefix("[id="), line.contains(" frame <") {
                if let frame = LoggedFrame(line: line) { frames.append(frame) }
            } else if !frames.isEmpty, let value = Self.value(of: "error_code=", in: line, until: "(") {
                frames[frames.count - 1].errorCode = String(value)
            }
        }
        return frames
    }

    private init?(line: Substring) {
        let words = line.split(separator: " ")
        guard let frame = words.firstIndex(of: "frame"), frame >= 2,
            let connection = Self.value(of: "[id=", in: line, until: "]").flatMap({ Int($0) }),
            let length = Self.value(of: "length=", in: line, until: ",").flatMap({ Int($0) }),
            let flags = Self.value(of: "flags=0x", in: line, until: ",").flatMap({ UInt8($0, radix: 16) }),
            let stream = Self.value(of: "stream_id=", in: line, until: ">").flatMap({ Int($0) })
        else { return nil }
        self.connection = connection
        self.length = length
        self.flags = flags
        self.stream = stream
        type = String(words[frame - 1])
        direction = words[frame - 2] == "recv" ? .received : .sent
    }

    private static func value(of key: String, in line: Substring, until end: Character) -> Substring? {
        guard let start = line.firstRange(of: key) else { return nil }
        return line[start.upperBound...].prefix { $0 != end }
    }
}
