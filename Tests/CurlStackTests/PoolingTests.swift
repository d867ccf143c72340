import CurlStack
import FoundationEssentials
import NetworkStack
import NetworkStackConformance
import NetworkStackTesting
import Testing

/// How a stack manages its connections.
@Suite("CurlStack's connections", .serialized, .timeLimit(.minutes(1)))
struct PoolingTests {
    private func origin(_ server: ScriptedServer, host: String? = nil) throws -> HTTP.Origin {
        try HTTP.Origin(of: HTTP.Request(url: server.url("/", host: host)).url)
    }

    @Test("unrequested bytes over TLS are not taken as a response")
    func unaskedOverTLS() async throws {
        let certificates = try TestCertificates.shared()
        let (sends, sent) = (Gate(), Gate())
        let server = try ScriptedServer(.init(tls: certificates.server)) { index in
            let answer = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let poison = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
            return index == 0
                ? [.receiveHead, answer, .wait(for: sends), poison, .open(sent), .receiveHead, answer, .waitForClose]
                : [.receiveHead, answer, .waitForClose]
        }
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let resource = try get(server.url("/", host: "localhost"))
        _ = try await stack.fetch(resource: resource)
        sends.open()
        try await sent.opened()
        #expect(try await stack.fetch(resource: resource).value == Data("ok".utf8))
        #expect(server.snapshot.accepted == 2)
    }

    @Test("a cancelled waiter leaves no timeout to later ones")
    func placesOfOthers() async throws {
        let server = try ScriptedServer { _ in
            [.repeat([.receiveHead, .pause(.milliseconds(8)), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])]
        }
        var configuration = Network.Configuration()
        configuration.connections.perHost = 1
        configuration.options.timeouts.queue = .seconds(2)
        configuration.options.emptyResponseCodes = [200]
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let resource = try get(server.url())
        let end = ContinuousClock.now + .seconds(4.5)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...3 {
                group.addTask { while ContinuousClock.now < end { _ = try await stack.fetch(resource: resource) } }
            }
            try await group.waitForAll()
        }
    }

    @Test("a dead keep-alive connection is replaced, however often that happens")
    func dyingConnections() async throws {
        let server = try ScriptedServer { _ in
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .receiveHead, .close]
        }
        let stack = try Network.CurlNetworkStack()
        for _ in 0...8 { _ = try await stack.fetch(resource: get(server.url())) }
        // One to the first connection, and two for each of the eight that replaced it.
        #expect(server.requests.count == 17)
        await stack.shutdown()
    }

    @Test("a connection that a request asks to close is not used again")
    func closedByRequest() async throws {
        let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .receiveHead, .send(reply), .waitForClose] }
        let stack = try Network.CurlNetworkStack()
        for value in ["close", "Close", "keep-alive", "keep-alive"] {
            let request = try HTTP.Request(url: server.url(), headers: [.connection: value, "X-Case": value])
            _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
        }
        #expect(server.requests.map(\.connectionIndex) == [0, 1, 2, 2])
        await stack.shutdown()
    }

    @Test("a status line of HTTP/2 over HTTP/1.1 is a failure", arguments: [false, true])
    func lyingStatusLine(isSecure: Bool) async throws {
        let certificates = try TestCertificates.shared()
        let options = isSecure ? ScriptedServer.Options(tls: certificates.server) : .init()
        let server = try ScriptedServer.responding(options) { _ in
            Reply(head: Array("HTTP/2 200 OK\r\nContent-Length: 1\r\n\r\n".utf8), body: Array("x".utf8))
        }
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        await #expect(throws: (any Error).self) {
            try await stack.fetch(resource: get(server.url("/", host: "localhost")))
        }
        #expect(server.snapshot.accepted == 1)
    }

    @Test("a head with a folded first line harms no fetch over TLS on reused handles")
    func foldedHeadOverTLS() async throws {
        let certificates = try TestCertificates.shared()
        let folded = "HTTP/1.1 200 OK\r\n X-A: b\r\n\tc\r\nContent-Length: 1\r\nConnection: close\r\n\r\n"
        let server = try ScriptedServer.responding(.init(tls: certificates.server)) { request in
            guard request.path == "/folded" else { return .ok("x", headers: [("X-Before", "there")]) }
            return Reply(head: Array(folded.utf8), body: Array("x".utf8), steps: [.close])
        }
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        for _ in 1...20 {
            let fetched = try await stack.fetch(resource: get(server.url("/", host: "localhost")))
            #expect(fetched.response.headers["X-Before"] == "there")
            await #expect(throws: (any Error).self) {
                try await stack.fetch(resource: get(server.url("/folded", host: "localhost")))
            }
        }
    }

    @Test("a body without a length has its HTTP/2 connection alone on versions that mix streams")
    func ownConnections() async throws {
        var options = NghttpdServer.Options()
        options.echoesUploads = true
        let nghttpd = try NghttpdServer(options)
        try await nghttpd.start()
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: try TestCertificates.shared().caFile)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        for _ in 1...2 {
            _ = try await stack.fetch(resource: get(nghttpd.url("/json")))
            let pieces = AsyncStream<Data> { continuation in
                continuation.yield(Data("content".utf8))
                continuation.finish()
            }
            let body = HTTP.Body.stream(.init(pieces))
            let request = try HTTP.Request(method: .POST, url: nghttpd.url("/echo"), body: body)
            let echoed = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
            #expect(echoed.value == Data("content".utf8))
            #expect(echoed.response.version == HTTP.Version.http2)
        }
        let needsOwn = CurlLibrary.shared.versionNumber < 0x080100
        let heads = nghttpd.frames.filter { $0.type == "HEADERS" && $0.direction == .received }
        #expect(Set(heads.map(\.connection)).count == (needsOwn ? 2 : 1))
    }

    @Test("the gauges report running and waiting fetches and open connections")
    func statistics() async throws {
        let mayAnswer = Gate()
        let server = try ScriptedServer { _ in
            [
                .receiveHead, .wait(for: mayAnswer), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                .waitForClose,
            ]
        }
        var configuration = Network.Configuration()
        configuration.connections.perHost = 2
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        #expect(await stack.gauges.total == .init())
        let fetches = try (0..<5).map { _ in
            let resource = try get(server.url())
            return Task { try await stack.fetch(resource: resource) }
        }
        try await server.waitUntil { $0.requests.count == 2 }
        var busy = await stack.gauges
        // The last of the fetches may not have begun yet.
        let deadline = ContinuousClock.now + .seconds(10)
        while busy.total.active + busy.total.waiting < 5, .now < deadline { busy = await stack.gauges }
        #expect(busy.total.connectionsInUse == 2 && busy.total.connections == 2)
        #expect(try busy.origins.keys.contains(origin(server)))
        #expect((busy.total.active, busy.total.waiting) == (2, 3))
        for fetch in fetches { fetch.cancel() }
        try await server.waitUntil { $0.open == 0 }
        for fetch in fetches { _ = await fetch.result }
        #expect(await stack.gauges.origins == [:])
        await stack.shutdown()
        #expect(await stack.gauges.total == .init())
    }

    @Test("an idle connection is used until its idle age, and not after", .timeLimit(.minutes(1)))
    func idleAge() async throws {
        let server = try ScriptedServer.responding { _ in .ok("done") }
        // The time passes at a slow server. libcurl counts whole seconds, and more than configured.
        let slow = try ScriptedServer { _ in
            [
                .receiveHead, .pause(.milliseconds(2100)), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"),
                .close,
            ]
        }
        for (age, connections) in [(1, 2), (60, 1)] {
            let before = server.snapshot.accepted
            var configuration = Network.Configuration()
            configuration.connections.idleAge = .seconds(age)
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            for url in [server.url(), slow.url(), server.url()] { _ = try await stack.fetch(resource: get(url)) }
            #expect(server.snapshot.accepted - before == connections, "with an idle age of \(age) s")
        }
    }

    @Test("the connections of a burst are closed after the idle age, except those in use")
    func burst() async throws {
        let (mayAnswer, mayEnd) = (Gate(), Gate())
        let server = try ScriptedServer { index in
            let answer = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
            return index == 63
                ? [.receiveHead, .wait(for: mayEnd), answer, .waitForClose]
                : [.repeat([.receiveHead, .wait(for: mayAnswer), answer])]
        }
        var configuration = Network.Configuration()
        configuration.connections.perHost = 64
        configuration.connections.idleAge = .seconds(1)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let resource = try get(server.url())
        let burst = (0..<63).map { _ in Task { try await stack.fetch(resource: resource) } }
        try await server.waitUntil { $0.requests.count == 63 }
        let slow = Task { try await stack.fetch(resource: resource).value }
        try await server.waitUntil { $0.requests.count == 64 }
        mayAnswer.open()
        for fetch in burst { _ = try await fetch.value }
        // From now on only the first pool is used, and the last one, where a fetch still waits.
        let end = ContinuousClock.now + .seconds(20)
        while await stack.gauges.total.connections > 17, .now < end {
            _ = try await stack.fetch(resource: resource)
        }
        #expect(await stack.gauges.total.connections <= 17)
        mayEnd.open()
        #expect(try await slow.value == Data("done".utf8))
        while await stack.gauges.total.connections > 0, .now < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(await stack.gauges.total.connections == 0)
        #expect(try await stack.fetch(resource: resource).value == Data("done".utf8))
    }

    @Test("a host override works without an idle age")
    func overrides() async throws {
        let server = try ScriptedServer.responding { _ in .ok("done") }
        var configuration = Network.Configuration()
        configuration.connections.idleAge = .seconds(1)
        configuration.addresses.hostOverrides = [try .init("nowhere.invalid:\(server.port):127.0.0.1")]
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let url = server.url("/", host: "nowhere.invalid")
        _ = try await stack.fetch(resource: get(url))
        let end = ContinuousClock.now + .seconds(20)
        while await stack.gauges.total.connections > 0, .now < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(try await stack.fetch(resource: get(url)).value == Data("done".utf8))
        #expect(server.snapshot.accepted == 2)
    }

    @Test("a connection is not used beyond its lifetime, however busy it is")
    func lifetime() async throws {
        var configuration = Network.Configuration()
        // libcurl counts whole seconds, so that a lifetime may be a second longer.
        configuration.connections.lifetime = .seconds(3)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        try await ConformanceCheck.expectInProportion(to: .seconds(3)) {
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let start = ContinuousClock.now
            while server.snapshot.accepted < 2, ContinuousClock.now - start < .seconds(20) {
                _ = try await stack.fetch(resource: get(server.url()))
            }
            #expect(server.snapshot.accepted == 2)
            return .now - start
        }
    }
}
