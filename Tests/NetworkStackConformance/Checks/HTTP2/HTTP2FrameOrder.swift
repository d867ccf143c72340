import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsFrames: Set<HTTP.Capability> = [.network, .http2PriorKnowledge, .strictReplies]

    /// Frames that a client may have read without processing them: none may be left or confused.
    static let heldFrames: [ConformanceCheck] = [
        ConformanceCheck(
            "A body sent at once over HTTP/2 is delivered at once",
            needs: needsFrames
        ) { subject in
            for sizes in [
                [10_000, 16_384, 5000], [16_384, 16_000], [15_000, 8000, 8000, 1000], [1, 16_383, 16_000],
            ] {
                for hasLength in [true, false] {
                    let count = sizes.reduce(0, +)
                    let fields = hasLength ? [(name: "content-length", value: "\(count)")] : []
                    let server = try http2Server { _ in
                        [.receiveStream, .send([.head(200, fields, on: 1)] + content(sizes, on: 1)), .waitForClose]
                    }
                    let fetched = try await subject.http2Client().get(server.url())
                    try expectBytes(fetched.value, BytePattern.bytes(count), "the body in pieces of \(sizes)")
                }
            }
        },
        ConformanceCheck("Data read with another stream's end is delivered at once", needs: needsFrames) {
            subject in
            for sizes in [[10_000, 16_384], [16_384, 9000], [16_383, 100]] {
                let count = sizes.reduce(0, +)
                let first = Gate()
                let server = try http2Server { _ in
                    [
                        .answerStream, .receiveStream, .open(first), .receiveStream,
                        .run { connection in
                            let fields = [(name: "content-length", value: "\(count)")]
                            try connection.send(
                                [.head(200, fields, on: 3)] + content(sizes, on: 3)
                                    + [.head(200, on: 5), .data("other", on: 5, endsStream: true)]
                            )
                        }, .waitForClose,
                    ]
                }
                let client = try subject.http2Client()
                _ = try await client.get(server.url())
                async let one = client.get(server.url("/one"))
                try await first.opened()
                async let other = client.get(server.url("/other"))
                try expectBytes(await one.value, BytePattern.bytes(count), "the body in pieces of \(sizes)")
                try expectBytes(await other.value, "other".utf8)
            }
        },
        ConformanceCheck(
            "Data read with an upload's early response is delivered at once",
            needs: needsFrames
        ) { subject in
            for sizes in [[10_000, 16_384], [16_384, 16_000], [16_384, 16_384, 16_384, 5000]] {
                let (wasRead, count) = (Gate(), sizes.reduce(0, +))
                let server = try http2Server { _ in
                    [
                        .receiveStream, .send([.head(200, on: 1)]),
                        .run { connection in
                            var received = 0
                            while received < 65_535 {
                                let frame = try connection.receiveFrame()
                                if frame.kind == .data { received += frame.payload.count }
                            }
                            try connection.send(
                                content(sizes, on: 1, endsStream: false)
                                    + [
                                        .head(413, [("content-length", "2")], on: 3),
                                        .data("no", on: 3, endsStream: true),
                                    ]
                            )
                            try connection.wait(for: wasRead)
                        }, .send([.data("", on: 1, endsStream: true)]), .waitForClose,
                    ]
                }
                defer { wasRead.open() }
                let client = try subject.streaming { $0.options.version = .http2PriorKnowledge }
                let opened = try await client.open(server.url())
                let (upload, isAnswered) = (HTTP.Body.bytes(Data(count: 4 << 20)), Gate())
                let request = try HTTP.Request(method: .POST, url: server.url("/upload"), body: upload)
                client.stack.fetch(resource: .init(baseRequestMaking: .request(request))) { _ in isAnswered.open() }
                let seen = try await bounded(.seconds(20)) {
                    var seen = Data()
                    for try await chunk in opened.value {
                        seen += chunk
                        if seen.count >= count { wasRead.open() }
                    }
                    return seen
                }
                try expectBytes(seen, BytePattern.bytes(count), "the body in pieces of \(sizes)")
                try await isAnswered.opened()
            }
        },
        ConformanceCheck(
            "An upload over HTTP/2 to a slow server arrives unchanged",
            needs: needsFrames
        ) {
            subject in
            let content = patternBytes(8 << 20)
            for isAnnounced in [true, false] {
                let server = try http2Server { _ in [.run { try receiveSlowly(content, on: $0) }, .waitForClose] }
                let stream = HTTP.Body.stream(.init(AsyncStream(pieces(of: content))))
                let request = try HTTP.Request(
                    method: .POST,
                    url: server.url(),
                    body: isAnnounced ? .bytes(content) : stream
                )
                try expectBytes(await subject.http2Client().success(request).value, "as sent".utf8)
            }
        },
    ]

    /// Opens all windows at once, so that only the client's socket is full, and sends PINGs in between.
    private static func receiveSlowly(_ content: Data, on connection: ScriptedServer.Connection) throws {
        let all: [UInt8] = [0x7F, 0xFF, 0, 0]
        try connection.send([HTTP2Frame(.settings, [0, 4] + all), HTTP2Frame(.windowUpdate, all)])
        var (offset, isAsSent, isWhole) = (0, true, false)
        while !isWhole {
            let frame = try connection.receiveFrame()
            guard frame.kind == .data else { continue }
            isAsSent = isAsSent && Data(frame.payload) == content.dropFirst(offset).prefix(frame.payload.count)
            offset += frame.payload.count
            isWhole = frame.flags & HTTP2Frame.endStream != 0
            try connection.send([HTTP2Frame(.ping, [UInt8](repeating: 1, count: 8))])
        }
        let verdict = isAsSent && offset == content.count ? "as sent" : "\(offset) bytes, as sent: \(isAsSent)"
        try connection.send([.head(200, on: 1), .data(verdict, on: 1, endsStream: true)])
    }

    /// The pattern in DATA frames of these sizes; the last one ends the stream, or not.
    private static func content(_ sizes: [Int], on stream: UInt32, endsStream: Bool = true) -> [HTTP2Frame] {
        var offset = 0
        return sizes.enumerated().map { index, size in
            defer { offset += size }
            let flags = endsStream && index == sizes.count - 1 ? HTTP2Frame.endStream : 0
            return HTTP2Frame(.data, flags: flags, stream: stream, BytePattern.bytes(size, at: offset))
        }
    }
}
