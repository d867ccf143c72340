/// An HTTP/2 frame (RFC 9113 section 4.1), which a script sends or has received.
public struct HTTP2Frame: Sendable, Equatable, CustomStringConvertible {
    /// The frame's type (section 6).
    public enum Kind: UInt8, Sendable {
        /// DATA: a part of a body.
        case data
        /// HEADERS: a head, or trailers.
        case headers
        /// PRIORITY, which is deprecated.
        case priority
        /// RST_STREAM: the end of a stream with an error.
        case reset
        /// SETTINGS.
        case settings
        /// PUSH_PROMISE: an unrequested response.
        case pushPromise
        /// PING.
        case ping
        /// GOAWAY: the end of the connection.
        case goAway
        /// WINDOW_UPDATE: permission to send more.
        case windowUpdate
        /// CONTINUATION: the rest of a head.
        case continuation
    }

    /// END_STREAM of `data` and `headers`, ACK of `settings` and `ping`.
    public static let endStream: UInt8 = 0x1
    /// END_HEADERS.
    public static let endHeaders: UInt8 = 0x4

    /// The type, or `nil` if it is unknown.
    public let kind: Kind?
    /// The flags as sent.
    public let flags: UInt8
    /// The stream; 0 is the connection.
    public let stream: UInt32
    /// The payload of the frame.
    public let payload: [UInt8]

    /// Makes a frame.
    public init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
        self.kind = kind
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    /// The server's settings, all at their defaults.
    public static let settings = HTTP2Frame(.settings)
    /// The acknowledgement of the client's settings.
    public static let settingsAnswer = HTTP2Frame(.settings, flags: endStream)

    /// Settings and an update after which a client may send without limit.
    public static let wideOpen = [
        HTTP2Frame(.settings, [0, 4, 0x7F, 0xFF, 0xFF, 0xFF]), HTTP2Frame(.windowUpdate, [0x7F, 0xFF, 0, 0]),
    ]

    /// A head with this status and these fields, uncompressed.
    public static func head(
        _ status: Int,
        _ fields: [(name: String, value: String)] = [],
        on stream: UInt32,
        endsStream: Bool = false
    ) -> HTTP2Frame {
        let lines = [(name: ":status", value: String(status))] + fields
        return HTTP2Frame(.headers, flags: endHeaders | (endsStream ? endStream : 0), stream: stream, coded(lines))
    }

    /// Trailers, which end their stream.
    public static func trailers(_ fields: [(name: String, value: String)], on stream: UInt32) -> HTTP2Frame {
        HTTP2Frame(.headers, flags: endHeaders | endStream, stream: stream, coded(fields))
    }

    /// A part of a body.
    public static func data(_ text: String, on stream: UInt32, endsStream: Bool = false) -> HTTP2Frame {
        HTTP2Frame(.data, flags: endsStream ? endStream : 0, stream: stream, Array(text.utf8))
    }

    /// The end of a stream with an error code (section 7).
    public static func reset(_ stream: UInt32, code: UInt32) -> HTTP2Frame {
        HTTP2Frame(.reset, stream: stream, bytes(of: code))
    }

    /// The end of the connection, with the last stream that is processed and an error code.
    public static func goAway(lastStream: UInt32, code: UInt32 = 0) -> HTTP2Frame {
        HTTP2Frame(.goAway, bytes(of: lastStream) + bytes(of: code))
    }

    /// Fields as literals without indexing and without Huffman coding (RFC 7541 section 6.2.2).
    private static func coded(_ fields: [(name: String, value: String)]) -> [UInt8] {
        fields.flatMap { [0] + text($0.name) + text($0.value) }
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var (prefix, rest) = ([UInt8(127)], bytes.count - 127)
        while rest >= 128 {
            prefix.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        return prefix + [UInt8(rest)] + bytes
    }

    private static func bytes(of number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// The frame as sent.
    public var bytes: [UInt8] {
        let count = UInt32(payload.count)
        return Array(Self.bytes(of: count).dropFirst()) + [kind?.rawValue ?? 0xFF, flags] + Self.bytes(of: stream)
            + payload
    }

    /// Type, stream, flags and length.
    public var description: String {
        "\(kind.map { "\($0)" } ?? "unknown") stream \(stream), flags \(flags), \(payload.count) bytes"
    }
}

extension HTTP2Frame {
    /// Parses a frame from its nine bytes of head and its payload.
    init(head: [UInt8], payload: [UInt8]) {
        kind = Kind(rawValue: head[3])
        flags = head[4]
        stream = head[5...].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        self.payload = payload
    }
}

extension ScriptedServer.Connection {
    /// Reads the client's preface and sends the server's (RFC 9113 section 3.4).
    public func beginHTTP2() throws {
        let preface = try receive(24)
        guard preface == Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) else {
            throw ScriptedServer.Interruption.malformed("a preface other than that of HTTP/2")
        }
        try send(HTTP2Frame.settings.bytes)
    }

    /// Reads the next frame.
    public func receiveFrame() throws -> HTTP2Frame {
        let head = try receive(9)
        return HTTP2Frame(head: head, payload: try receive(head[..<3].reduce(0) { $0 << 8 | Int($1) }))
    }

    /// Reads until a request is complete. Settings are acknowledged, other frames ignored.
    ///
    /// - Returns: The request's stream.
    @discardableResult
    public func receiveStream() throws -> UInt32 {
        while true {
            let frame = try receiveFrame()
            let ends = frame.flags & HTTP2Frame.endStream != 0
            switch frame.kind {
            case .settings where !ends: try send(HTTP2Frame.settingsAnswer.bytes)
            case .headers where ends, .data where ends: return frame.stream
            default: break
            }
        }
    }

    /// Reads until a request's head has arrived. Settings are acknowledged, other frames ignored.
    public func receiveHeaders() throws {
        while true {
            let frame = try receiveFrame()
            if frame.kind == .headers { return }
            if frame.kind == .settings, frame.flags & HTTP2Frame.endStream == 0 {
                try send(HTTP2Frame.settingsAnswer.bytes)
            }
        }
    }

    /// Reads until a request is complete, and answers it with "ok".
    public func answerStream() throws {
        let stream = try receiveStream()
        try send([.head(200, on: stream), .data("ok", on: stream, endsStream: true)])
    }

    /// Sends frames in one write.
    public func send(_ frames: [HTTP2Frame]) throws { try send(frames.flatMap(\.bytes)) }
}

extension ScriptedServer.Step {
    /// Reads the client's HTTP/2 preface and sends the server's.
    public static var beginHTTP2: Self { .init("begin HTTP/2") { try $0.beginHTTP2() } }

    /// Reads until a request over HTTP/2 is complete.
    public static var receiveStream: Self { .init("receive a stream") { try $0.receiveStream() } }

    /// Answers a request over HTTP/2 with "ok". Some stacks share a connection only after its first response.
    public static var answerStream: Self { .init("answer a stream") { try $0.answerStream() } }

    /// Sends frames in one write.
    public static func send(_ frames: [HTTP2Frame]) -> Self {
        .init("send \(frames.count) frames") { try $0.send(frames) }
    }
}
