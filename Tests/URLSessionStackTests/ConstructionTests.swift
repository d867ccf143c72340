import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

@Suite("Making a URLSession stack", .timeLimit(.minutes(1)))
struct ConstructionTests {
    @Test("A stack with an injected session works")
    func seed() async throws {
        let server = try ScriptedServer.responding { .ok($0.path) }
        let network = Network.URLSessionNetworkStack(
            retryQueue: DispatchQueue(label: "com.alicerce.network.retry-queue")
        )
        network.session = URLSession(configuration: .default, delegate: network, delegateQueue: nil)
        #expect(try await network.fetch(resource: .url(server.url("/seed"))).text == "/seed")
        #expect(network.session?.delegate === network)
        network.finishFetchesAndInvalidateSession()
    }

    @Test("A delayed retry waits on the retry queue, and starts when the queue is free")
    func retryQueue() async throws {
        let server = try ScriptedServer.responding { $0.path == "/retried" ? .status(503) : .ok("x") }
        let queue = DispatchQueue(label: "com.alicerce.network.retry-queue")
        queue.suspend()
        let network = Network.URLSessionNetworkStack(retryQueue: queue)
        network.session = URLSession(configuration: .default, delegate: network, delegateQueue: nil)
        defer { network.finishFetchesAndInvalidateSession() }
        let policy = Network.URLSessionRetryPolicy.backoff(.constant(delay: 0.001, until: .maxRetries(1)))
        let done = Gate()
        let retried = try Network.URLSessionResource.url(server.url("/retried"), interceptors: [policy])
        network.fetch(resource: retried) { _ in done.open() }
        // Far beyond the delay, and until the server has other requests.
        let deadline = ContinuousClock.now + .milliseconds(30)
        var others = 0
        while others < 10 || ContinuousClock.now < deadline {
            _ = try await network.fetch(resource: .url(server.url("/other")))
            others += 1
        }
        #expect(server.requests.count { $0.path == "/retried" } == 1)
        queue.resume()
        try await done.opened()
        #expect(server.requests.count { $0.path == "/retried" } == 2)
    }

    @Test("A stack made in one line works, and has a session")
    func oneLine() async throws {
        let server = try ScriptedServer.responding { .ok($0.path) }
        let network = try Stack(configuration: .init())
        #expect(try await network.fetch(resource: .url(server.url("/line"))).text == "/line")
        #expect(network.session != nil)
    }

    @Test("An injected session's header fields and cookies are sent")
    func injectedFields() async throws {
        let server = try ScriptedServer.responding { _ in .ok("", headers: [("Set-Cookie", "own=1; Path=/")]) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "yes", "User-Agent": "session/1"]
        let network = Stack.injected(configuration: configuration)
        defer { network.finishFetchesAndInvalidateSession() }
        var options = HTTP.Options()
        options.allowsEmptyBody = true
        for _ in 1...2 { _ = try await network.fetch(resource: .url(server.url(), options: options)) }
        #expect(server.requests.map { $0["X-Session"] } == ["yes", "yes"])
        #expect(server.requests.map { $0["User-Agent"] } == ["session/1", "session/1"])
        #expect(server.requests.map { $0["Cookie"] } == [nil, "own=1"])
    }

    @Test("An injected session's header fields are sent by an earlier view too")
    func injectedFieldsOfViews() async throws {
        let server = try ScriptedServer.responding { _ in .ok("here") }
        let network = Stack()
        let view = network.streaming
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "yes"]
        network.session = URLSession(configuration: configuration, delegate: network, delegateQueue: nil)
        defer { network.finishFetchesAndInvalidateSession() }
        let content = try await view.fetch(resource: .url(server.url())).value.collect()
        #expect(String(decoding: content, as: UTF8.self) == "here")
        #expect(server.requests.map { $0["X-Session"] } == ["yes"])
    }

    @Test("An injected session's credentials do not follow a redirect to another origin")
    func injectedCredentials() async throws {
        let target = try ScriptedServer.responding { _ in .ok("there") }
        let server = try ScriptedServer.responding { _ in .redirect(302, to: target.url("/")) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Authorization": "Bearer t", "X-API-Key": "k", "X-App": "yes"]
        let network = Stack.injected(configuration: configuration)
        defer { network.finishFetchesAndInvalidateSession() }
        #expect(try await network.fetch(resource: .url(server.url())).text == "there")
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer t"])
        #expect(target.requests.map { $0["Authorization"] } == [nil])
        #expect((server.requests + target.requests).map { $0["X-API-Key"] } == ["k", nil])
        #expect((server.requests + target.requests).map { $0["X-App"] } == ["yes", "yes"])
    }

    @Test("An injected session's timeout ends no fetch, crashes no process, and stays unchanged")
    func injectedTimeouts() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let server = try ScriptedServer.responding { _ in .ok("x") }
            for timeout in [.infinity, -.infinity, .nan, .greatestFiniteMagnitude, 1e16, 0, 0.5, 5] {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.timeoutIntervalForRequest = timeout
                let network = Stack.injected(configuration: configuration)
                #expect(await network.outcome(of: try .url(server.url())).summary == "success x")
                let kept = network.session?.configuration.timeoutIntervalForRequest
                if abs(timeout) < 10 { #expect(kept == timeout) }
            }
            exit(7)
        }
    }

    @Test("A session with illegal fields is a fatal error that names them")
    func impossibleFields() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["Content-Length": "5"]
            _ = Stack.injected(configuration: configuration)
        }
        #expect(result.printsOnExit("Content-Length belongs to one request"))
    }

    @Test("A stack without a session makes one for its first fetch, and keeps it")
    func noSession() async throws {
        let server = try ScriptedServer.responding { .ok($0["user-agent"] ?? "none") }
        let network = Stack()
        #expect(network.session == nil)
        #expect(try await network.fetch(resource: .url(server.url("/a"))).text == "NetworkStack/\(Network.version)")
        let session = try #require(network.session)
        #expect(try await network.fetch(resource: .url(server.url("/b"))).text == "NetworkStack/\(Network.version)")
        #expect(network.session === session)
        #expect(server.requests.allSatisfy { $0["accept-language"] == nil })
        await network.shutdown()
    }

    @Test("A stack whose own session is refused fails each fetch with the reason")
    func refusedSession() async {
        await #expect(processExitsWith: .exitCode(0)) {
            setenv("http_proxy", "http://127.0.0.1:9", 1)
            let network = Stack()
            for _ in 0..<2 {
                guard
                    case .failure(.unsupported(.proxies, _)) = await network.outcome(
                        of: try .url("http://127.0.0.1:9/")
                    )
                else { exit(1) }
            }
            exit(0)
        }
    }

    @Test("The shared stack serves a fetch")
    func shared() async throws {
        let server = try ScriptedServer.responding { _ in .json("[1,2]") }
        #expect(try await Stack.shared.get(server.url(), as: [Int].self) == [1, 2])
    }

    @Test("Removing the session is a fatal error with the fix")
    func sessionTakenAway() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Stack.injected().session = nil
        }
        #expect(result.printsOnExit("Call finishFetchesAndInvalidateSession() instead"))
    }

    @Test("A session without a delegate is a fatal error with the fix")
    func noDelegate() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Stack().session = URLSession(configuration: .default)
        }
        #expect(
            result.printsOnExit("The session has no delegate. Make it with URLSession(configuration:delegate: network")
        )
    }

    @Test("A session with another delegate is a fatal error with the fix")
    func anotherDelegate() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Stack().session = URLSession(configuration: .default, delegate: Stack(), delegateQueue: nil)
        }
        #expect(
            result.printsOnExit("delegate is not this stack. Make it with URLSession(configuration:delegate: network")
        )
    }

    @Test("A second session is a fatal error with the fix")
    func secondSession() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let network = Stack.injected()
            network.session = URLSession(configuration: .default, delegate: network, delegateQueue: nil)
        }
        #expect(result.printsOnExit("Make another stack for another session"))
    }

    @Test("A delegate queue that is not serial is a fatal error with the fix")
    func concurrentQueue() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let network = Stack()
            network.session = URLSession(configuration: .default, delegate: network, delegateQueue: OperationQueue())
        }
        #expect(result.printsOnExit("Give URLSession no queue, or one whose maxConcurrentOperationCount is 1"))
    }

    @Test("What URLSession cannot do is refused when the stack is made")
    func refusals() {
        func refusal(_ change: (inout Network.Configuration) -> Void) -> HTTP.Capability? {
            var configuration = Network.Configuration()
            change(&configuration)
            do { _ = try Stack(configuration: configuration) } catch .unsupported(let capability, _) {
                return capability
            } catch {}
            return nil
        }
        #expect(refusal { _ in } == nil)
        #expect(refusal { $0.options.timeouts.connect = .seconds(1) } == .connectTimeout)
        #expect(refusal { $0.options.decompresses = false } == .disablingDecompression)
        #expect(refusal { $0.options.version = .http2PriorKnowledge } == .http2PriorKnowledge)
        #expect(refusal { $0.connections.idleAge = .seconds(1) } == .idleConnectionAge)
        #expect(refusal { $0.tls.trustRoots = .pem(Data()) } == .customTrustRoots)
        #expect(refusal { $0.tls.clientIdentity = .init(.pkcs12(Data())) } == .clientCertificates)
        #expect(refusal { $0.tls.minimumVersion = .v1_3 } == .tlsVersions)
        #expect(refusal { $0.tls.verification = .disabledForTesting } == .unverifiedTLS)
        #expect(refusal { $0.options.collectsServerPins = true } == .serverPins)
        #expect(refusal { $0.connections.streamsPerConnection = 3 } == .streamsPerConnection)
        #expect(refusal { ($0.connections.perHost, $0.connections.streamsPerConnection) = (3, 3) } == nil)
    }

    @Test("A request that accepts trailers, which crash the process, is refused")
    func trailersInvited() async throws {
        let network = try Stack(configuration: .init())
        let resource = try Stack.Resource.url("http://127.0.0.1:9/") {
            $0.setValue("trailers", forHTTPHeaderField: "TE")
        }
        guard case .failure(.unsupported(.trailers, _)) = await network.outcome(of: resource) else {
            Issue.record("The request was not refused")
            return
        }
    }

    @Test("HTTP/1.1 alone is refused over https, where URLSession negotiates the version itself")
    func version() async throws {
        var options = HTTP.Options()
        options.version = .http1_1
        let network = try Stack(configuration: .init())
        guard
            case .failure(.unsupported(.versionChoice, _)) = await network.outcome(
                of: try .url("https://127.0.0.1:9/", options: options)
            )
        else {
            Issue.record("The request was not refused")
            return
        }
        let server = try ScriptedServer.responding { _ in .ok("one") }
        #expect(try await network.fetch(resource: .url(server.url(), options: options)).text == "one")
    }
}
