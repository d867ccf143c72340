import Dispatch
import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

@testable import CurlStack

/// Fetches that share an HTTP/2 connection, or are about to, when it ends.
@Suite("CurlStack after a lost connection", .serialized, .timeLimit(.minutes(1)))
struct PoolingReplacedTests {
    /// Reports on the loop's thread when the first request is about to be sent.
    private struct Announcing: HTTPTransport {
        typealias Request = HTTP.Request
        typealias Response = HTTP.Response

        final class Sink: HTTPTransferSink {
            private let base: any HTTPTransferSink<CurlError>
            private let isWaiting: @Sendable () -> Void

            init(_ base: any HTTPTransferSink<CurlError>, isWaiting: @escaping @Sendable () -> Void) {
                (self.base, self.isWaiting) = (base, isWaiting)
            }

            func entered(_ phase: HTTP.Phase) {
                base.entered(phase)
                if phase == .waiting { isWaiting() }
            }
            func informational(_ response: HTTP.Response) { base.informational(response) }
            func head(_ response: HTTP.Response) { base.head(response) }
            func body(_ chunk: Data) -> Bool { base.body(chunk) }
            func withheld(_ count: Int64) { base.withheld(count) }
            func sent(_ total: Int64) { base.sent(total) }
            func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
                base.finished(trailers: trailers, metrics: metrics)
            }
            func failed(_ failure: HTTPTransferFailure<CurlError>, metrics: HTTP.Metrics) {
                base.failed(failure, metrics: metrics)
            }
        }

        let base: CurlTransport
        /// Called when the first request is about to be sent.
        let announce = Lock<(@Sendable () -> Void)?>(nil)

        var capabilities: HTTP.Capabilities { base.capabilities }

        func start(_ hop: HTTPHop, sink: any HTTPTransferSink<CurlError>) -> any HTTPTransfer {
            base.start(hop, sink: Sink(sink) { announce.withLock { $0.take() }?() })
        }

        func response(_ response: HTTP.Response) -> HTTP.Response { base.response(response) }
    }

    private struct Stack: HTTPTransportStack {
        typealias Request = HTTP.Request
        typealias Response = HTTP.Response

        let engine: HTTPEngine<Announcing>
    }

    /// A stack that uses HTTP/2, over TLS or by prior knowledge.
    private func stack(isSecure: Bool) throws -> Network.CurlNetworkStack {
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: try TestCertificates.shared().caFile)
        if !isSecure { configuration.options.version = .http2PriorKnowledge }
        return try Network.CurlNetworkStack(configuration: configuration)
    }

    /// Many times over, because the cancel must come in the turn of the loop in which the connection is made.
    @Test("fetches about to share a cancelled fetch's connection keep it open", arguments: 1...12)
    func cancelledScout(round: Int) async throws {
        let certificates = try TestCertificates.shared()
        let options = ScriptedServer.Options(tls: certificates.server, applicationProtocols: ["h2"])
        let server = try ScriptedServer(options) { _ in [.beginHTTP2, .repeat([.answerStream])] }
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        let transport = Announcing(base: try Network.CurlNetworkStack(configuration: configuration).engine.transport)
        let stack = Stack(engine: HTTPEngine(transport: transport))
        let resource = try get(server.url("/", host: "localhost"))
        let (fetches, areBegun) = (Lock<[any Cancelable]>([]), DispatchSemaphore(value: 0))
        let outcomes = (0...10).map { _ in OneShot<Bool>() }
        transport.announce.withLock { announce in
            announce = {
                areBegun.wait()
                fetches.withLock { $0[0] }.cancel()
            }
        }
        for outcome in outcomes {
            let fetching = stack.fetch(resource: resource) { outcome.fill((try? $0.get()) != nil) }
            fetches.withLock { $0.append(fetching) }
        }
        areBegun.signal()
        var successes: [Bool] = []
        for outcome in outcomes { successes.append(await outcome.take()) }
        #expect(successes == [false] + Array(repeating: true, count: 10))
        #expect(server.snapshot.accepted == 1)
    }

    @Test("a request with a refused stream is repeated, whatever happened to earlier ones")
    func refusedStreams() async throws {
        let server = try ScriptedServer { index in
            index % 2 == 0
                ? [.beginHTTP2, .receiveStream, .send([.reset(1, code: 7)]), .waitForClose]
                : [.beginHTTP2, .answerStream, .send([.goAway(lastStream: 1)]), .close]
        }
        let stack = try stack(isSecure: false)
        let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(Data("hello".utf8)))
        for number in 1...8 {
            _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
            try await server.waitUntil { $0.accepted == 2 * number && $0.open == 0 }
        }
    }

    @Test("fetches that a lost shared connection did not process share the next", arguments: [false, true])
    func goAway(isSecure: Bool) async throws {
        let certificates = try TestCertificates.shared()
        let options = ScriptedServer.Options(tls: certificates.server, applicationProtocols: ["h2"])
        let begun = Lock(0)
        let server = try ScriptedServer(isSecure ? options : .init()) { index in
            let begin = [ScriptedServer.Step.beginHTTP2, .run { _ in begun.withLock { $0 += 1 } }]
            guard index == 0 else { return begin + [.repeat([.answerStream])] }
            return begin + [.answerStream] + (1...20).map { _ in .receiveStream } + [
                .send([.goAway(lastStream: 1)]), .close,
            ]
        }
        let stack = try stack(isSecure: isSecure)
        let resource = try get(server.url("/", host: isSecure ? "localhost" : nil))
        _ = try await stack.fetch(resource: resource)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...20 { group.addTask { _ = try await stack.fetch(resource: resource) } }
            try await group.waitForAll()
        }
        // If a connection can be joined only after its first response, each fetch has its own until then.
        #expect(begun.withLock { $0 } == 2 || !isSecure && LibcurlQuirks.running.contains(.lateHTTP2Sharing))
    }

    @Test("the metrics of fetches on a lost shared connection report no wait for a place")
    func waitBeforeGoAway() async throws {
        let options = ScriptedServer.Options(tls: try TestCertificates.shared().server, applicationProtocols: ["h2"])
        let server = try ScriptedServer(options) { index in
            guard index == 0 else { return [.beginHTTP2, .repeat([.answerStream])] }
            return [.beginHTTP2, .answerStream] + (1...5).map { _ in .receiveStream } + [
                .pause(.seconds(3)), .send([.goAway(lastStream: 1)]), .close,
            ]
        }
        let stack = try stack(isSecure: true)
        let resource = try get(server.url("/", host: "localhost"))
        _ = try await stack.fetch(resource: resource)
        let waits = try await withThrowingTaskGroup(of: Duration?.self) { group in
            for _ in 1...5 { group.addTask { try await stack.fetch(resource: resource).response.metrics.queue } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(waits.allSatisfy { $0.map { $0 < .milliseconds(2500) } ?? false }, "\(waits)")
    }

    @Test("fetches that start together after a lost shared connection share the next", arguments: [false, true])
    func idleDeath(isSecure: Bool) async throws {
        let certificates = try TestCertificates.shared()
        let options = ScriptedServer.Options(tls: certificates.server, applicationProtocols: ["h2"])
        let begun = Lock(0)
        let ends = Gate()
        let server = try ScriptedServer(isSecure ? options : .init()) { index in
            let begin = [ScriptedServer.Step.beginHTTP2, .run { _ in begun.withLock { $0 += 1 } }]
            return begin + (index == 0 ? [.answerStream, .wait(for: ends), .close] : [.repeat([.answerStream])])
        }
        let stack = try stack(isSecure: isSecure)
        let resource = try get(server.url("/", host: isSecure ? "localhost" : nil))
        _ = try await stack.fetch(resource: resource)
        ends.open()
        try await server.waitUntil { $0.open == 0 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...20 { group.addTask { _ = try await stack.fetch(resource: resource) } }
            try await group.waitForAll()
        }
        // If a connection can be joined only after its first response, each fetch has its own until then.
        #expect(begun.withLock { $0 } == 2 || !isSecure && LibcurlQuirks.running.contains(.lateHTTP2Sharing))
    }

    @Test("a cancelled stream alone on its connection closes it despite streams to other hosts")
    func otherHosts() async throws {
        let servers = try (0..<2).map { _ in
            try ScriptedServer { _ in [.beginHTTP2, .receiveStream, .waitForClose] }
        }
        var configuration = Network.Configuration()
        configuration.options.version = .http2PriorKnowledge
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        var fetches: [any Cancelable] = []
        for server in servers {
            fetches.append(stack.fetch(resource: try get(server.url())) { _ in })
            try await server.waitUntil { $0.open == 1 }
        }
        // The frames that open the connection are read before its end is seen.
        for (server, fetching) in zip(servers, fetches) {
            fetching.cancel()
            try await server.waitUntil(within: .seconds(5)) { $0.open == 0 }
        }
    }

    /// libcurl before 8.1 resets streams that have ended, if no length was announced, and servers count that.
    @Test("many responses without a length fail no fetch and use few connections", arguments: [false, true])
    func withoutLength(isSecure: Bool) async throws {
        var options = NghttpdServer.Options()
        (options.usesTLS, options.sendsContentLength) = (isSecure, false)
        let nghttpd = try NghttpdServer(options)
        try await nghttpd.start()
        let stack = try stack(isSecure: isSecure)
        let resource = try get(nghttpd.url("/bytes/1k"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask { for _ in 0..<100 { _ = try await stack.fetch(resource: resource) } }
            }
            try await group.waitForAll()
        }
        let heads = nghttpd.frames.filter { $0.type == "HEADERS" && $0.direction == .received }
        #expect(heads.count == 6400)
        #expect(Set(heads.map(\.connection)).count <= 10 || LibcurlQuirks.running.contains(.lateHTTP2Sharing))
    }
}
