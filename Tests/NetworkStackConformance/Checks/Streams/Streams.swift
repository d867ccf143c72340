import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Bodies that are delivered while they arrive.
    static let streams: [ConformanceCheck] =
        streamsToTheEnd + streamsEndedEarly + streamsPaused + streamsIntercepted
        + streamsTimed

    private static let streamsToTheEnd: [ConformanceCheck] = [
        ConformanceCheck("A stream opens at the head and delivers bytes as they arrive", needs: [.network]) { subject in
            let goOn = Gate()
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-Head: here\r\n\r\nfirst"),
                    .wait(for: goOn), .send("later"),
                ]
            }
            let opened = try await subject.streaming().open(server.url())
            try expectEqual(opened.response.headers["X-Head"], "here", "a field of the head")
            let text = try await bounded(.seconds(20)) {
                var chunks = opened.value.makeAsyncIterator()
                let first = try await chunks.text(ofAtLeast: 5)
                try expectEqual(first, "first", "the bytes received before the server continues")
                goOn.open()
                return try await first + chunks.text()
            }
            try expectEqual(text, "firstlater", "the body")
            try expect(opened.value.metrics != nil, "A stream that ended has no metrics")
        },
        ConformanceCheck(
            "An upload continues after its stream has opened",
            needs: [.network, .streamedRequestBody]
        ) { subject in
            let (hasOpened, number) = (Gate(), Lock(0))
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .receive(10), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"), .receive(10),
                    .send("done"), .waitForClose,
                ]
            }
            let pieces = AsyncThrowingStream<Data, any Error> {
                let index = number.withLock { number in
                    number += 1
                    return number
                }
                if index == 2 { try await hasOpened.opened() }
                return index > 2 ? nil : Data("0123456789".utf8)
            }
            let body = HTTP.Body.stream(.init(pieces, length: 20))
            let request = try HTTP.Request(method: .POST, url: server.url(), body: body)
            let client = try subject.streaming()
            let opened = try await bounded(.seconds(20)) {
                try await client.stack.fetch(resource: .init(baseRequestMaking: .request(request)))
            }
            hasOpened.open()
            try expectBytes(try await bounded(.seconds(20)) { try await opened.value.collect() }, Data("done".utf8))
        },
        ConformanceCheck("An ended stream has the metrics of the whole fetch") { subject in
            let peer = try subject.serve { $0.path == "/" ? .redirect(to: "/there") : .ok("content") }
            let opened = try await subject.streaming().open(peer.url("/"))
            _ = try await bounded(.seconds(20)) { try await opened.value.collect() }
            try expectEqual(opened.value.metrics?.hopCount, 2, "hops")
            try expect(opened.value.metrics?.total ?? .zero > .zero, "The fetch took no time")
        },
        ConformanceCheck("A stream delivers every byte in order") { subject in
            let content = patternBytes(5 << 20)
            let peer = try subject.serve { _ in .ok(bytes: Array(content)) }
            let opened = try await subject.streaming().open(peer.url("/"))
            let seen = try await bounded(.seconds(30)) { try await opened.value.collect() }
            try expectBytes(seen, content)
        },
        ConformanceCheck("An empty stream ends at once") { subject in
            for status in [200, 204] {
                let peer = try subject.serve { _ in .status(status, "") }
                let opened = try await subject.streaming().open(peer.url("/"))
                try expectBytes(try await bounded(.seconds(20)) { try await opened.value.collect() }, Data())
            }
        },
        ConformanceCheck("An unsuccessful status opens no stream and yields the API's error") { subject in
            struct APIError: Error, Decodable, Equatable { let reason: String }
            let peer = try subject.serve { _ in .status(422, #"{"reason":"no such thing"}"#) }
            let outcome = try await subject.streaming().outcome(of: peer.url("/"), decoding: .json(APIError.self))
            guard case .failure(.http(422, let error as APIError, _)) = outcome else {
                throw ConformanceFailure("Expected http(422) with the API's error, saw \(outcome)")
            }
            try expectEqual(error, APIError(reason: "no such thing"), "the API's error")
        },
        ConformanceCheck("A redirect is followed before a stream opens") { subject in
            let peer = try subject.serve { request in
                request.path == "/there" ? .ok("there") : .redirect(302, to: "/there")
            }
            let opened = try await subject.streaming().open(peer.url("/"))
            try expectBytes(try await bounded(.seconds(20)) { try await opened.value.collect() }, Data("there".utf8))
            try expectEqual(opened.response.redirects.map(\.status), [302], "the redirects")
        },
        ConformanceCheck("A truncated stream throws after its last bytes", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close]
            }
            let opened = try await subject.streaming().open(server.url())
            let seen = Lock(Data())
            let error = try await streamFailure {
                for try await chunk in opened.value { seen.withLock { $0 += chunk } }
            }
            try expectBytes(seen.withLock { $0 }, Data("half".utf8), "what came")
            try expectEqual((error as? any HTTPError)?.transportFailure, .truncated, "the kind of failure")
        },
        ConformanceCheck("Lines, JSON lines and server-sent events are decoded as they arrive") { subject in
            let peer = try subject.serve { request in
                switch request.path {
                case "/lines": .ok("one\r\ntwo\n\nlast")
                case "/json": .ok("{\"n\":1}\n\n{\"n\":2}\n")
                default:
                    .ok(
                        ": hello\nid: 7\nevent: tick\ndata: a\ndata: b\nretry: 1500\n\ndata:c\n\ndata: cut",
                        headers: [("Content-Type", "text/event-stream")]
                    )
                }
            }
            struct Number: Decodable, Sendable { let n: Int }
            let client = try subject.streaming()
            let decoded = try await bounded(.seconds(30)) {
                var (lines, numbers, events) = ([String](), [Int](), [ServerSentEvent]())
                let allLines = try LineDecodings.lines(await client.open(peer.url("/lines")))
                for try await line in allLines { lines.append(line) }
                let allNumbers = try LineDecodings.numbers(await client.open(peer.url("/json")), Number.self)
                for try await number in allNumbers { numbers.append(number.n) }
                let allEvents = try LineDecodings.events(await client.open(peer.url("/events")))
                for try await event in allEvents { events.append(event) }
                return (lines, numbers, events)
            }
            try expectEqual(decoded.0, ["one", "two", "", "last"], "the lines")
            try expectEqual(decoded.1, [1, 2], "the numbers")
            try expectEqual(decoded.2.map(\.data), ["a\nb", "c"], "the events' data")
            try expectEqual(decoded.2.map(\.event), ["tick", "message"], "the events' names")
            try expectEqual(decoded.2.map(\.id), ["7", "7"], "the events' identifiers")
            try expectEqual(decoded.2.last?.retry, .milliseconds(1500), "the reconnection time")
        },
    ]

    private static let streamsEndedEarly: [ConformanceCheck] = [
        ConformanceCheck("A released stream closes its connection", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome"), .waitForClose]
            }
            let client = try subject.streaming()
            _ = try await client.open(server.url())
            try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
        },
        ConformanceCheck("Cancelling a reading task cancels its stream", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome"), .waitForClose]
            }
            let opened = try await subject.streaming().open(server.url())
            let hasRead = Gate()
            let reading = Task { () -> (any Error)? in
                do throws(BoundedClient.FetchError) {
                    for try await _ in opened.value { hasRead.open() }
                    return nil
                } catch { return error }
            }
            try await hasRead.opened(within: .seconds(20))
            reading.cancel()
            let error = try await bounded(.seconds(20)) { await reading.value }
            try expect(error.map { "\($0)".contains("cancelled") } ?? false, "Expected cancelled, saw \(error as Any)")
            try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
        },
        ConformanceCheck("Cancelling a task cancels its stream, however much is buffered", needs: [.network]) {
            subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome"), .waitForClose]
            }
            let opened = try await subject.streaming().open(server.url())
            let error = try await streamFailure {
                withUnsafeCurrentTask { $0?.cancel() }
                for try await _ in opened.value {
                    throw ConformanceFailure("A cancelled task received data")
                }
            }
            try expect("\(error)".contains("cancelled"), "Expected cancelled, saw \(error)")
            try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
        },
        ConformanceCheck("A stream longer than its collecting limit is cancelled", needs: [.network]) {
            subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome"), .waitForClose]
            }
            let opened = try await subject.streaming().open(server.url())
            let error = try await streamFailure { _ = try await opened.value.collect(upTo: 3) }
            guard case .bodyTooLarge(limit: 3, _)? = error as? BoundedClient.FetchError else {
                throw ConformanceFailure("Expected a body that is too large, saw \(error)")
            }
            try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
            let peer = try subject.serve { _ in .ok("some") }
            let whole = try await subject.streaming().open(peer.url("/"))
            let content = try await bounded(.seconds(20)) { try await whole.value.collect(upTo: 4) }
            try expectBytes(content, Data("some".utf8))
            withExtendedLifetime(opened) {}
        },
        ConformanceCheck("The total timeout ends a stream", needs: [.network]) { subject, scale in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome"), .waitForClose]
            }
            let opened = try await subject.streaming { $0.options.timeouts.total = .milliseconds(1500) * scale }.open(
                server.url()
            )
            let error = try await streamFailure { _ = try await opened.value.collect() }
            try expect("\(error)".contains("total timeout"), "Expected the total timeout, saw \(error)")
        },
    ]

    private static let streamsPaused: [ConformanceCheck] = [
        ConformanceCheck("A slow reader slows the server down and loses nothing", needs: [.network, .backPressure]) {
            subject in
            let length = 48 << 20
            var options = ScriptedServer.Options()
            options.patience = .seconds(60)
            let server = try ScriptedServer(options) { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"), .sendPattern(length)]
            }
            let opened = try await subject.streaming { $0.options.timeouts.idle = .seconds(2) }.open(
                server.url()
            )
            try await bounded(.seconds(60)) {
                var chunks = opened.value.makeAsyncIterator()
                var count = try await chunks.next()?.count ?? 0
                // The server is blocked when its count of sent bytes no longer changes; the idle clock stops meanwhile.
                var sent = -1
                while let now = server.connections.first?.sentCount, now != sent {
                    sent = now
                    try await Task.sleep(for: .milliseconds(1250))
                }
                try expect(sent < 24 << 20, "The server could send \(sent) bytes ahead of the reader")
                while let chunk = try await chunks.next() {
                    try expectBytes(chunk.prefix(8), BytePattern.bytes(8, at: count).prefix(chunk.count))
                    count += chunk.count
                }
                try expectEqual(count, length, "the bytes that were read")
            }
        },
        ConformanceCheck("Repeatedly paused streams lose nothing over HTTP/2", needs: needsHTTP2) {
            subject in
            let certificates = try TestCertificates.shared()
            let server = try NghttpdServer(.init())
            try await server.start()
            let client = try subject.streaming { $0.tls.trustRoots = .file(path: certificates.caFile) }
            let expected = Data(BytePattern.bytes(1 << 20))
            try await together(24) { number in
                let opened = try await client.open(server.url("/bytes/1m"))
                var seen = Data()
                for try await chunk in opened.value {
                    seen += chunk
                    for _ in 0..<(number * 40) { await Task.yield() }
                }
                try expectBytes(seen, expected)
            }
        },
    ]
}

/// The lazy decodings, as an app writes them.
private enum LineDecodings {
    typealias Opened = Network.Value<ErasedStream, HTTP.Response>

    typealias Failure = BoundedClient.FetchError

    static func lines(_ opened: Opened) throws -> LineStream<Failure> {
        try opened.mapValue(ModelDecoding<LineStream<Failure>, ErasedStream, HTTP.Response>.lines().decode).value
    }

    static func numbers<Value: Decodable & SendableMetatype>(
        _ opened: Opened,
        _ type: Value.Type
    ) throws -> JSONLineStream<Value, Failure> {
        let decoding = ModelDecoding<JSONLineStream<Value, Failure>, ErasedStream, HTTP.Response>.jsonLines()
        return try opened.mapValue(decoding.decode).value
    }

    static func events(_ opened: Opened) throws -> ServerSentEventStream<Failure> {
        let decoding = ModelDecoding<ServerSentEventStream<Failure>, ErasedStream, HTTP.Response>.serverSentEvents()
        return try opened.mapValue(decoding.decode).value
    }
}
