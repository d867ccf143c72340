import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsFrames: Set<HTTP.Capability> = [.network, .http2PriorKnowledge, .strictReplies]
    private static let needsEarly = needsFrames.union([.streamedRequestBody])

    /// Responses over HTTP/2 that are complete before the request is.
    static let earlyAnswers: [ConformanceCheck] = [
        ConformanceCheck(
            "A complete response over HTTP/2 ends the upload it does not need",
            needs: needsEarly
        ) { subject in
            let length: HTTP.Headers = ["content-length": "2"]
            for (status, fields, text) in [
                (200, length, "ok"), (413, length, "no"), (204, [:], ""), (500, length, "no"),
            ] {
                for (name, body) in uploads() {
                    let what = "\(status) while \(name) was sent"
                    // The server opens no window, and does not reset the stream.
                    let isLeft = Lock(false)
                    let server = try http2Server { index in
                        (index == 0 ? [answer(status, fields, text, earlyOn: 1)] : [])
                            + [.run { try answerOthers(than: index == 0 ? 1 : nil, isLeft, on: $0) }]
                    }
                    var options = HTTP.Options()
                    options.allowsEmptyBody = true
                    options.version = .http2PriorKnowledge
                    let client = try subject.client { $0.options = options }
                    let request = try HTTP.Request(method: .POST, url: server.url(), body: body)
                    let (response, content) = try await fetchResponse(by: client, request)
                    try expectEqual(response.status.rawValue, status, what)
                    try expectBytes(content, text.utf8, what)
                    try expectBytes(await client.get(server.url()).value, "next".utf8, "after \(what)")
                    try expect(!isLeft.withLock { $0 }, "The connection is reused while the stream is open: \(what)")
                }
            }
        },
        ConformanceCheck("An early response over HTTP/2 releases the stream of its upload", needs: needsEarly) {
            subject in
            let server = try http2Server { _ in
                [answer(413, ["content-length": "2"], "no", earlyOn: 1, after: 4), .waitForClose]
            }
            let ended = Gate()
            let endless = AsyncStream<Data> { continuation in
                continuation.onTermination = { _ in ended.open() }
                continuation.yield(Data("some".utf8))
            }
            let request = try HTTP.Request(method: .POST, url: server.url(), body: .stream(.init(endless)))
            try expectEqual(await subject.http2Client().unsuccessful(request).status, .contentTooLarge, "the status")
            try await ended.opened()
        },
        ConformanceCheck("A complete response without a length ends its HTTP/2 upload", needs: needsEarly) {
            subject in
            for status in [200, 413] {
                let server = try http2Server { _ in [answer(status, [:], "no", earlyOn: 1, after: 4), .waitForClose] }
                let client = try subject.http2Client { $0.timeouts.total = .seconds(2) }
                let endless = AsyncStream<Data> { $0.yield(Data("some".utf8)) }
                let request = try HTTP.Request(method: .POST, url: server.url(), body: .stream(.init(endless)))
                try expectEqual(await fetchResponse(by: client, request).0.status.rawValue, status, "the status")
            }
        },
        ConformanceCheck("A slow release of an abandoned upload delays no other fetch", needs: needsEarly) {
            subject in
            let server = try http2Server { _ in
                [answer(413, ["content-length": "2"], "no", earlyOn: 1, after: 4), .answerStream, .waitForClose]
            }
            let slow = SlowEnding()
            let client = try subject.http2Client()
            let request = try HTTP.Request(method: .POST, url: server.url(), body: .stream(.init(slow.endless)))
            try expectEqual(await client.unsuccessful(request).status, .contentTooLarge, "the status")
            try await slow.end()
        },
        ConformanceCheck(
            "An early response over HTTP/2 leaves the connection to other streams",
            needs: needsFrames
        ) { subject in
            let first = Gate()
            let server = try http2Server { _ in
                [
                    .answerStream, .receiveStream, .open(first),
                    answer(413, ["content-length": "2"], "no", earlyOn: 5),
                    .run { connection in while try !connection.receiveFrame().ends(stream: 5) {} },
                    .send([.head(200, on: 3), .data("first", on: 3, endsStream: true)]), .receiveStream,
                    .send([.head(200, on: 7), .data("third", on: 7, endsStream: true)]), .waitForClose,
                ]
            }
            let client = try subject.http2Client()
            _ = try await client.get(server.url())
            async let one = client.get(server.url("/one"))
            try await first.opened()
            let upload = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(patternBytes(4 << 20)))
            try expectEqual(await client.unsuccessful(upload).status, .contentTooLarge, "the status")
            try expectBytes(await one.value, "first".utf8)
            try expectBytes(await client.get(server.url("/third")).value, "third".utf8)
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck("A response read beside a busy stream reaches a waiting upload", needs: needsEarly) {
            subject in
            // Which stream's turn reads both responses is libcurl's choice.
            for _ in 1...10 {
                let (first, answered) = (Gate(), Gate())
                let server = try http2Server { _ in
                    [
                        .answerStream, .run { while try $0.receiveFrame().kind != .data {} }, .open(first),
                        .receiveStream,
                        .run { try answer(3, beside: 5, until: answered, on: $0) }, .waitForClose,
                    ]
                }
                let client = try subject.http2Client()
                _ = try await client.get(server.url())
                let endless = AsyncStream<Data> { $0.yield(Data("some".utf8)) }
                let body = HTTP.Body.stream(.init(length: 8) { endless })
                let upload = try HTTP.Request(method: .POST, url: server.url(), body: body)
                async let one = client.success(upload, opening: answered)
                try await first.opened()
                async let other = client.get(server.url())
                try expectBytes(await one.value, "early".utf8)
                try expectBytes(await other.value, "the upload was answered first".utf8)
            }
        },
    ]

    /// Answers an upload while another stream receives something all the time, which ends once the answer was delivered.
    private static func answer(
        _ upload: UInt32,
        beside busy: UInt32,
        until delivered: Gate,
        on connection: ScriptedServer.Connection
    ) throws {
        try connection.send([
            .head(200, on: busy), .head(200, [("content-length", "5")], on: upload),
            .data("early", on: upload, endsStream: true),
        ])
        let late = ContinuousClock.now + .seconds(5)
        while !delivered.isOpen, ContinuousClock.now < late {
            try connection.send([.data("", on: busy)])
            try connection.pause(.milliseconds(10))
        }
        let verdict = delivered.isOpen ? "the upload was answered first" : "the upload was not answered"
        try connection.send([.data(verdict, on: busy, endsStream: true)])
    }

    /// Trailers over HTTP/2 after a body of an announced length.
    static let awaitedTrailers: [ConformanceCheck] = [
        ConformanceCheck(
            "TE: trailers receives trailers over HTTP/2, with or without a length",
            needs: needsFrames.union([.trailers]),
            rests: [.rfc(9110, "6.5")]
        ) { subject in
            for fields in [[], [(name: "content-length", value: "2")]] {
                for status in [200, 404] {
                    let server = try http2Server { _ in
                        [
                            .receiveStream,
                            .send([
                                .head(status, fields, on: 1), .data("ok", on: 1),
                                .trailers([("x-checksum", "abc")], on: 1),
                            ]),
                            .waitForClose,
                        ]
                    }
                    let request = try HTTP.Request(url: server.url(), headers: [.te: "trailers"])
                    let (response, content) = try await fetchResponse(by: subject.http2Client(), request)
                    try expectBytes(content, "ok".utf8)
                    try expectEqual(response.trailers?["X-Checksum"], "abc", "X-Checksum after \(fields)")
                }
            }
        },
        ConformanceCheck(
            "A body with expected trailers must still have its announced length",
            needs: needsFrames
        ) { subject in
            for content in ["", "one", "three"] {
                let server = try http2Server { _ in
                    [
                        .receiveStream,
                        .send([.head(200, [("content-length", "4")], on: 1), .data(content, on: 1, endsStream: true)]),
                        .waitForClose,
                    ]
                }
                let request = try HTTP.Request(url: server.url(), headers: [.te: "trailers"])
                _ = try await subject.http2Client().breakdown(request)
            }
        },
        ConformanceCheck(
            "Many parallel streams end while trailers are expected",
            needs: needsHTTP2.union([.trailers])
        ) { subject in
            let (nginx, client) = try await nginx(subject)
            for round in 1...3 {
                try await withThrowingTaskGroup { group in
                    for number in 0..<60 {
                        let (name, size) = [("64k", 65_536), ("1k", 1024), ("1m", 1 << 20)][(number + round) % 3]
                        group.addTask {
                            let fetched = try await client.get(
                                nginx.httpsURL("/bytes/\(name)"),
                                headers: [.te: "trailers"]
                            )
                            try expectBytes(fetched.value, BytePattern.bytes(size), name)
                        }
                    }
                    try await group.waitForAll()
                }
            }
        },
    ]

    /// Waits until a client has filled the initial window, or sent less, and answers completely.
    private static func answer(
        _ status: Int,
        _ fields: HTTP.Headers,
        _ text: String,
        earlyOn stream: UInt32,
        after expected: Int = 65_535
    ) -> ScriptedServer.Step {
        .run { connection in
            var count = 0
            while count < expected {
                let frame = try connection.receiveFrame()
                if frame.kind == .data { count += frame.payload.count }
            }
            let fields = fields.map { (name: $0.name.rawValue, value: $0.value) }
            let head = HTTP2Frame.head(status, fields, on: stream, endsStream: text.isEmpty)
            try connection.send([head] + (text.isEmpty ? [] : [.data(text, on: stream, endsStream: true)]))
        }
    }

    /// Answers other requests, and records whether a stream was left open.
    private static func answerOthers(
        than left: UInt32?,
        _ isLeft: Lock<Bool>,
        on connection: ScriptedServer.Connection
    ) throws {
        var hasEnded = left == nil
        while true {
            let frame = try connection.receiveFrame()
            if let left, frame.ends(stream: left) { hasEnded = true }
            switch frame.kind {
            case .headers:
                isLeft.withLock { $0 = $0 || !hasEnded }
                try connection.send([.head(200, on: frame.stream), .data("next", on: frame.stream, endsStream: true)])
            default: break
            }
        }
    }

    /// A body larger than any window, in every form.
    private static func uploads() -> [(String, HTTP.Body)] {
        let count = 4 << 20
        return [
            ("bytes", .bytes(patternBytes(count))),
            ("a stream of known length", .stream(.init(length: Int64(count)) { AsyncStream([patternBytes(count)]) })),
            ("a stream", .stream(.init { AsyncStream([patternBytes(count)]) })),
        ]
    }

    /// Fetches the response and its body, whatever its status.
    private static func fetchResponse(
        by client: BoundedClient,
        _ request: HTTP.Request
    ) async throws -> (HTTP.Response, Data) {
        let seen = Lock(Data())
        let decoding = BoundedClient.ErrorDecoding { payload, _ in
            seen.withLock { $0 = payload ?? Data() }
            return nil
        }
        switch try await client.outcome(of: request, decoding: decoding) {
        case .success(let fetched): return (fetched.response, fetched.value)
        case .failure(.http(_, _, let response)): return (response, seen.withLock { $0 })
        case .failure(let error): throw ConformanceFailure("expected a response, failed with \(error)")
        }
    }
}

extension BoundedClient {
    /// Opens a gate once the response is there.
    fileprivate func success(_ request: HTTP.Request, opening gate: Gate) async throws -> Fetched {
        let fetched = try await success(request)
        gate.open()
        return fetched
    }
}

extension HTTP2Frame {
    /// Whether this frame ends the client's side of a stream, normally or by a reset.
    fileprivate func ends(stream: UInt32) -> Bool {
        self.stream == stream && (kind == .reset || kind == .data && flags & Self.endStream != 0)
    }
}
