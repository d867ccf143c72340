import CurlStack
import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("The shutdown of a curl stack")
struct ShutdownTests {
    @Test("ends running and waiting fetches once each, and refuses later ones", .timeLimit(.minutes(1)))
    func everything() async throws {
        let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
        var configuration = Network.Configuration()
        configuration.connections.perHost = 1
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let request = try HTTP.Request(url: server.url())
        let (shutDowns, others, ended) = (Lock(0), Lock<[String]>([]), (0..<5).map { _ in Gate() })

        @Sendable func fetch(_ number: Int) {
            stack.fetch(resource: .init(baseRequestMaking: .request(request))) { result in
                if case .failure(.shutDown) = result {
                    shutDowns.withLock { $0 += 1 }
                } else {
                    others.withLock { $0.append("\(result)") }
                }
                ended[number].open()
            }
        }

        for number in 0..<4 { fetch(number) }
        try await server.waitUntil { $0.requests.count == 1 }
        await stack.shutdown()
        for gate in ended.dropLast() { try await gate.opened() }
        try await server.waitUntil { $0.connections.allSatisfy { $0.state == .closedByPeer } }
        fetch(4)
        try await ended[4].opened()
        await stack.shutdown()
        #expect(shutDowns.withLock { $0 } == 5)
        #expect(others.withLock { $0 } == [])
        #expect(server.snapshot.accepted == 1)
    }

    @Test("with a limit waits for running fetches, on an erased view, too", .timeLimit(.minutes(1)))
    func afterAWhile() async throws {
        let (mayAnswer, isShutDown) = (Gate(), Lock(false))
        let server = try ScriptedServer { _ in
            [
                .receiveHead, .wait(for: mayAnswer), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                .waitForClose,
            ]
        }
        let stack = try Network.CurlNetworkStack()
        let resource = Network.CurlResource(baseRequestMaking: .request(try HTTP.Request(url: server.url())))
        let fetching = Task { try await stack.fetch(resource: resource).value.count }
        try await server.waitUntil { $0.requests.count == 1 }
        let view = AnyHTTPNetworkStack(stack.with { _ in }.streaming)
        let ending = Task {
            await view.shutdown(after: .seconds(50))
            isShutDown.withLock { $0 = true }
        }
        // Until the stack accepts no more, the fetched resource has no request to send.
        var isRefused = false
        while !isRefused {
            do {
                _ = try await stack.fetch(resource: .init(baseRequestMaking: .task { throw CancellationError() }))
            } catch {
                if case .shutDown = error { isRefused = true }
            }
        }
        #expect(!isShutDown.withLock { $0 })
        mayAnswer.open()
        #expect(try await fetching.value == 2)
        await ending.value
        try await server.waitUntil { $0.open == 0 }
    }

    @Test("releases uploads that wait for room", .timeLimit(.minutes(1)))
    func stalledUploads() async throws {
        var options = ScriptedServer.Options()
        options.receiveBuffer = 32 * 1024
        var configuration = Network.Configuration()
        configuration.options.version = .http2PriorKnowledge
        let body = HTTP.Body.bytes(Data(count: 32 << 20))
        weak var left: Network.CurlNetworkStack?
        var counts: [Int] = []
        for _ in 0..<20 {
            let (areThere, isOver) = (Gate(), Gate())
            let server = try ScriptedServer(options) { _ in
                [
                    .beginHTTP2, .send(HTTP2Frame.wideOpen), .answerStream,
                    .run { for _ in 1...2 { try $0.receiveHeaders() } },
                    // Until the socket is full. A hint makes libcurl request more data all the same.
                    .pause(.milliseconds(50)), .send([3, 5].map { .head(103, on: $0) }),
                    .run { _ in areThere.open() }, .wait(for: isOver),
                ]
            }
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            left = stack
            let isAnswered = Gate()
            let first = try HTTP.Request(url: server.url())
            stack.fetch(resource: .init(baseRequestMaking: .request(first))) { _ in isAnswered.open() }
            try await isAnswered.opened()
            // If one uses all the room, the other waits for some.
            let ended = [Gate(), Gate()]
            for gate in ended {
                let request = try HTTP.Request(method: .POST, url: server.url(), body: body)
                stack.fetch(resource: .init(baseRequestMaking: .request(request))) { _ in gate.open() }
            }
            try await areThere.opened()
            try await Task.sleep(for: .milliseconds(50))
            await stack.shutdown()
            for gate in ended { try await gate.opened() }
            isOver.open()
            server.stop()
            counts.append(ProcessProbe.openFileDescriptors())
        }
        #expect(try #require(counts.last) <= counts[4], "\(counts)")
        #expect(left == nil)
    }

    @Test(
        "happens with the release of the last reference, whatever failed or completed before sending",
        .timeLimit(.minutes(1))
    )
    func lastReference() async throws {
        let server = try ScriptedServer { _ in
            let head = HTTP2Frame.head(413, [("content-length", "2")], on: 1)
            return [
                .beginHTTP2, .run { while try $0.receiveFrame().kind != .data {} },
                .send([head, .data("no", on: 1, endsStream: true)]), .waitForClose,
            ]
        }
        let pollers = { ProcessProbe.descriptors().values.count { $0.contains("eventpoll") } }
        let before = pollers()
        for number in 0..<10 {
            var configuration = Network.Configuration()
            var headers: HTTP.Headers = [:]
            if number.isMultiple(of: 2) {
                headers[.proxyAuthorization] = "Basic YTpi"
                var proxy = try Network.Proxy(.http, host: "127.0.0.1", port: Int(server.port))
                proxy.tunnelsHTTP = true
                configuration.proxies = .init(proxy)
            } else {
                configuration.options.version = .http2PriorKnowledge
            }
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            let endless = AsyncStream<Data> { $0.yield(Data("some".utf8)) }
            let request = try HTTP.Request(
                method: .POST,
                url: server.url(),
                headers: headers,
                body: .stream(.init(endless))
            )
            let resource = Network.CurlResource(baseRequestMaking: .request(request))
            await #expect(throws: Network.CurlFetchError.self) { try await stack.fetch(resource: resource) }
        }
        let end = ContinuousClock.now + .seconds(20)
        while pollers() > before, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(10)) }
        #expect(pollers() <= before)
    }

    @Test("ends requests in the making, and fetches that wait for their next attempt", .timeLimit(.minutes(1)))
    func unsent() async throws {
        let server = try ScriptedServer.responding { _ in .status(503) }
        let stack = try Network.CurlNetworkStack()
        let (isMaking, isVoting, ended) = (Gate(), Gate(), (0..<3).map { _ in Gate() })
        let outcomes = Lock<[String]>([])
        let neverMade = Network.CurlResource(
            baseRequestMaking: .init { _ in
                isMaking.open()
                return CancelableBag()
            }
        )
        let patient = Network.CurlResource(
            baseRequestMaking: .request(try HTTP.Request(url: server.url())),
            interceptors: [
                HTTPRetryPolicy.custom { _, _, _ in
                    isVoting.open()
                    return .retryAfter(600)
                }
            ]
        )
        for (resource, gate) in zip([neverMade, patient, neverMade], ended) {
            // The last is fetched on a stack that was shut down.
            if gate === ended[2] {
                try await isMaking.opened()
                try await isVoting.opened()
                await stack.shutdown()
            }
            stack.fetch(resource: resource) { result in
                if case .failure(let error) = result { outcomes.withLock { $0.append("\(error)") } }
                gate.open()
            }
        }
        for gate in ended { try await gate.opened() }
        #expect(outcomes.withLock { $0 }.count { $0.contains("shut down") } == 3, "\(outcomes.withLock { $0 })")
    }

    @Test("ends an unread stream and a download", .timeLimit(.minutes(1)))
    func shutdownOfStreams() async throws {
        let server = try ScriptedServer { _ in
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n"), .sendPattern(50_000_000)]
        }
        let stack = try Network.CurlNetworkStack()
        let request = try HTTP.Request(url: server.url())
        let folder = FileManager.default.temporaryDirectory.path + "/shutdown-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let opened = try await stack.streaming.fetch(resource: .init(baseRequestMaking: .request(request)))
        try await Task.sleep(for: .milliseconds(200))
        let download = try await stack.downloads(to: folder + "/f").fetch(
            resource: .init(baseRequestMaking: .request(request))
        )
        await stack.shutdown()
        await #expect(throws: Network.CurlFetchError.self) { for try await _ in opened.value {} }
        await #expect(throws: Network.CurlFetchError.self) { _ = try await download.value.whole() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
}
