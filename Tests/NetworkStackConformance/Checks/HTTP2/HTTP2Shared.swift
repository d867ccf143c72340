import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsFrames: Set<HTTP.Capability> = [.network, .http2PriorKnowledge, .strictReplies]

    /// Many independent exchanges on one HTTP/2 connection.
    static let sharedConnections: [ConformanceCheck] = [
        ConformanceCheck(
            "Connection: close ends neither an HTTP/2 connection nor its body",
            needs: [.network, .http2PriorKnowledge, .strictReplies],
            rests: [.rfc(9113, "8.2.2")]
        ) {
            subject in
            let server = try http2Server { _ in
                [1, 3].flatMap { stream -> ScriptedServer.Script in
                    [
                        .receiveStream,
                        .send([.head(200, on: stream), .data("whole", on: stream, endsStream: true)]),
                    ]
                } + [.waitForClose]
            }
            let client = try subject.http2Client()
            for _ in 1...2 {
                let fetched = try await client.get(server.url(), headers: [.connection: "close"])
                try expectBytes(fetched.value, "whole".utf8)
            }
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck("A hundred parallel fetches share one connection of nginx", needs: needsHTTP2) { subject in
            let (nginx, client) = try await nginx(subject)
            try await together(100) { number in
                let fetched = try await client.get(nginx.httpsURL("/echo/\(number)"), headers: ["X-Echo": "e\(number)"])
                try expectBytes(fetched.value, "GET /echo/\(number) HTTP/2.0 e\(number)\n".utf8)
            }
            let log = try await nginx.waitForLog { $0.count == 100 }
            try expectEqual(Set(log.map(\.connection)).count, 1, "connections")
        },
        ConformanceCheck("A hundred parallel fetches share one connection of nghttpd", needs: needsHTTP2) { subject in
            let (nghttpd, client) = try await nghttpd(subject)
            try await together(100) { _ in
                try expectBytes(await client.get(nghttpd.url("/bytes/64k")).value, BytePattern.bytes(65_536))
            }
            try expectEqual(connections(nghttpd.frames).count, 1, "connections")
        },
        ConformanceCheck(
            "A hundred parallel fetches share one connection after the previous one closed",
            needs: needsHTTP2
        ) { subject in
            let (nghttpd, client) = try await nghttpd(subject) { $0.connections.idleAge = .seconds(1) }
            _ = try await client.get(nghttpd.url("/bytes/1k"))
            // The next fetch closes what was idle for too long.
            try await Task.sleep(for: .milliseconds(2200))
            try await together(100) { _ in
                try expectBytes(await client.get(nghttpd.url("/bytes/1k")).value, BytePattern.bytes(1024))
            }
            try expectEqual(connections(nghttpd.frames).count, 2, "connections")
        },
        ConformanceCheck("A hundred parallel redirects over HTTP/2 share one connection", needs: needsHTTP2) {
            subject in
            let (nginx, client) = try await nginx(subject)
            try await together(100) { number in
                let status = [301, 302, 303, 307, 308][number % 5]
                let start = nginx.httpsURL("/redirect/\(status)?\(number)")
                let fetched = try await client.get(start)
                try expectBytes(fetched.value, ServedFiles.json.utf8)
                try expectEqual(fetched.response.redirects.map(\.url.absoluteString), [start], "the redirects")
            }
            let log = try await nginx.waitForLog { $0.count == 200 }
            try expectEqual(Set(log.map(\.connection)).count, 1, "connections")
        },
        ConformanceCheck("Large parallel responses arrive whole", needs: needsHTTP2) { subject in
            let (nginx, client) = try await nginx(subject)
            try await together(16) { _ in
                try expectBytes(await client.get(nginx.httpsURL("/bytes/1m")).value, BytePattern.bytes(1 << 20))
            }
            try expectEqual(
                Set(try await nginx.waitForLog { $0.count == 16 }.map(\.connection)).count,
                1,
                "connections"
            )
        },
        ConformanceCheck("Bodies of every kind are echoed in parallel over HTTP/2", needs: needsHTTP2) { subject in
            var options = NghttpdServer.Options()
            options.echoesUploads = true
            let (nghttpd, client) = try await nghttpd(subject, options)
            try await together(30) { number in
                let content = patternBytes(20_000 * (number % 10) + 1)
                let file = try ContentFile(content)
                let body: HTTP.Body =
                    switch number % 4 {
                    case 0: .bytes(content)
                    case 1: .file(path: file.path)
                    case 2: .stream(.init(AsyncStream(pieces(of: content)), length: Int64(content.count)))
                    default: .stream(.init(AsyncStream(pieces(of: content))))
                    }
                let request = try HTTP.Request(method: .POST, url: nghttpd.url("/echo"), body: body)
                try expectBytes(await client.success(request).value, content, "content \(number)")
            }
        },
        endsConnections("loses no request", 150, of: "/bytes/1k", 1024),
        endsConnections("loses no long body", 600, of: "/bytes/64k", 65_536),
        // nginx announces no length for compressed bodies.
        endsConnections("loses no body without a length", 400, of: "/gzip/bytes/1k", 1024, after: 3),
        ConformanceCheck(
            "A cancelled fetch resets its stream and leaves other streams unharmed",
            needs: needsHTTP2.union([.streamedRequestBody])
        ) { subject in
            let (nghttpd, client) = try await nghttpd(subject)
            // The second pieces never come, so both fetches are under way until they are cancelled.
            let (first, firstEnding) = try hangingUpload(client, nghttpd.url("/json"))
            let data = try await nghttpd.waitForFrames { isReceived("DATA", in: $0) }
            let (second, secondEnding) = try hangingUpload(client, nghttpd.url("/json"))
            try await nghttpd.waitForFrames { $0.count { $0.type == "DATA" && $0.direction == .received } == 2 }
            let hanging = data.first { $0.type == "DATA" && $0.direction == .received }
            first.cancel()
            guard case .failure(.cancelled) = await firstEnding.take() else {
                throw ConformanceFailure("The cancelled fetch did not end as cancelled")
            }
            let frames = try await nghttpd.waitForFrames { frames in
                frames.contains { $0.type == "RST_STREAM" && $0.direction == .received && $0.stream == hanging?.stream }
            }
            try await together(10) { _ in
                try expectBytes(await client.get(nghttpd.url("/bytes/64k")).value, BytePattern.bytes(65_536))
            }
            try expectEqual(connections(nghttpd.frames).count, 1, "connections")
            try expectEqual(frames.count { $0.type == "RST_STREAM" && $0.direction == .received }, 1, "streams reset")
            second.cancel()
            guard case .failure(.cancelled) = await secondEnding.take() else {
                throw ConformanceFailure("The second fetch did not end as cancelled")
            }
        },
        ConformanceCheck(
            "A cancelled fetch alone on its HTTP/2 connection closes it at once",
            needs: [.network, .http2PriorKnowledge]
        ) { subject in
            let server = try ScriptedServer { _ in
                // The preface and the first frames come; the server answers with an empty SETTINGS frame only.
                [.run { _ = try $0.receiveSome() }, .send([0, 0, 0, 4, 0, 0, 0, 0, 0]), .waitForClose]
            }
            let client = try subject.client { $0.options.version = .http2PriorKnowledge }
            let ending = OneShot<BoundedClient.Outcome>()
            let request = try HTTP.Request(url: server.url())
            let fetching = client.stack.fetch(resource: .init(baseRequestMaking: .request(request))) { ending.fill($0) }
            try await server.waitUntil { ($0.connections.first?.sentCount ?? 0) == 9 }
            fetching.cancel()
            guard case .failure(.cancelled) = await ending.take() else {
                throw ConformanceFailure("The cancelled fetch did not end as cancelled")
            }
            // Unread bytes turn the client's close into a reset.
            try await server.waitUntil(within: .seconds(10)) { $0.open == 0 }
        },
        ConformanceCheck("A slow stream does not delay other streams", needs: needsHTTP2) { subject in
            let (nginx, client) = try await nginx(subject)
            // nginx takes a second for this one, at 16 KiB a second after the first of them.
            async let slow = client.get(nginx.httpsURL("/slow/text"))
            try await together(20) { _ in _ = try await client.get(nginx.httpsURL("/bytes/64k")) }
            let before = try await nginx.waitForLog { $0.count >= 20 }
            try expect(
                !before.prefix(20).contains { $0.uri == "/slow/text" },
                "The slow stream ended before the others"
            )
            try expectBytes(await slow.value, ServedFiles.text.utf8)
        },
    ]

    /// HTTP/2 without TLS and without negotiation.
    static let priorKnowledge: [ConformanceCheck] = [
        ConformanceCheck("HTTP/2 by prior knowledge works in cleartext", needs: [.network, .http2PriorKnowledge]) {
            subject in
            let (nginx, client) = try await nginx(subject) { $0.options.version = .http2PriorKnowledge }
            // One after the other, then side by side: an existing connection must work as well.
            for count in [1, 1, 50] {
                try await together(count) { number in
                    let fetched = try await client.get(nginx.cleartextHTTP2URL("/echo/\(number)"))
                    try expectBytes(fetched.value, "GET /echo/\(number) HTTP/2.0 \n".utf8)
                    try expectEqual(fetched.response.version, .http2, "the version")
                }
            }
            let log = try await nginx.waitForLog { $0.count == 52 }
            try expectEqual(Set(log.map(\.connection)).count, 1, "connections")
        },
        ConformanceCheck("A prior-knowledge request does not wait for another's response", needs: needsFrames) {
            _ = try await connectionsOfOneBesideAnUnansweredOne($0)
        },
        ConformanceCheck("A prior-knowledge request joins a connection without a response yet", needs: needsFrames) {
            try expectEqual(await connectionsOfOneBesideAnUnansweredOne($0), 1, "connections")
        },
        ConformanceCheck("Bodies travel both ways by prior knowledge", needs: [.network, .http2PriorKnowledge]) {
            subject in
            var options = NghttpdServer.Options()
            options.usesTLS = false
            options.echoesUploads = true
            let (nghttpd, client) = try await nghttpd(subject, options)
            let content = patternBytes(1_000_003)
            let request = try HTTP.Request(method: .POST, url: nghttpd.url("/echo"), body: .bytes(content))
            try expectBytes(await client.success(request).value, content)
        },
        ConformanceCheck(
            "A server without HTTP/2 fails a prior-knowledge request",
            needs: [.network, .http2PriorKnowledge]
        ) {
            let server = try ScriptedServer { _ in
                [
                    .run { _ = try $0.receiveSome() }, .send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
                    .close,
                ]
            }
            let client = try $0.client { $0.options.version = .http2PriorKnowledge }
            _ = try await client.breakdown(HTTP.Request(url: server.url()))
            try expect(
                server.connections.first?.receivedText.hasPrefix("PRI * HTTP/2.0") ?? false,
                "No preface was sent"
            )
        },
    ]

    /// Fetches while an earlier request has no response, and returns the number of connections.
    private static func connectionsOfOneBesideAnUnansweredOne(_ subject: ConformanceSubject) async throws -> Int {
        let isThere = Gate()
        let server = try http2Server { index in
            (index == 0 ? [.receiveStream, .open(isThere)] : []) + [.answerStream, .waitForClose]
        }
        let client = try subject.http2Client()
        let request = try HTTP.Request(url: server.url("/unanswered"))
        let unanswered = client.stack.fetch(resource: .init(baseRequestMaking: .request(request))) { _ in }
        defer { unanswered.cancel() }
        try await isThere.opened()
        try expectBytes(await client.get(server.url()).value, "ok".utf8)
        return server.snapshot.accepted
    }

    /// Begins an upload that sends one piece and never the next.
    private static func hangingUpload(
        _ client: BoundedClient,
        _ url: String
    ) throws -> (any Cancelable, OneShot<BoundedClient.Outcome>) {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(patternBytes(1000))
        let request = try HTTP.Request(method: .POST, url: url, body: .stream(.init(stream, length: 2000)))
        let ending = OneShot<BoundedClient.Outcome>()
        let fetching = client.stack.fetch(resource: .init(baseRequestMaking: .request(request))) { result in
            continuation.finish()
            ending.fill(result)
        }
        return (fetching, ending)
    }

    /// nginx ends a connection after some requests, and its GOAWAY excludes later streams.
    private static func endsConnections(
        _ what: String,
        _ count: Int,
        of file: String,
        _ length: Int,
        after requests: Int = 20
    ) -> ConformanceCheck {
        ConformanceCheck("A server's request limit per connection \(what)", needs: needsHTTP2) {
            subject in
            var options = NginxServer.Options()
            options.keepaliveRequests = requests
            let (nginx, client) = try await nginx(subject, options)
            // Under a sanitizer a fetch takes `slowdown` times as long, so there are fewer.
            let count = max(count / Stall.slowdown, 3 * requests)
            let expected = BytePattern.bytes(length)
            try await together(count) { number in
                try expectBytes(await client.get(nginx.httpsURL("\(file)?\(number)")).value, expected)
            }
            let served = try await nginx.waitForLog { $0.count >= count }
            try expectEqual(Set(served.map(\.uri)).count, count, "different requests served")
        }
    }

    private static func isReceived(_ type: String, in frames: [LoggedFrame]) -> Bool {
        frames.contains { $0.type == type && $0.direction == .received }
    }

    private static func connections(_ frames: [LoggedFrame]) -> Set<Int> {
        Set(frames.filter { $0.type == "HEADERS" && $0.direction == .received }.map(\.connection))
    }
}

/// Runs a closure many times at once; the first failure is thrown once all have ended.
func together(_ count: Int, _ body: @escaping @Sendable (_ number: Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        try await group.waitForAll()
    }
}
