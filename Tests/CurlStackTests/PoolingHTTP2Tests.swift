import CurlStack
import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackTesting
import Testing

/// How a stack manages its HTTP/2 connections.
@Suite("CurlStack's HTTP/2 connections", .serialized, .timeLimit(.minutes(1)))
struct PoolingHTTP2Tests {
    private func origin(_ server: ScriptedServer, host: String? = nil) throws -> HTTP.Origin {
        try HTTP.Origin(of: HTTP.Request(url: server.url("/", host: host)).url)
    }

    @Test("an HTTP/2 connection opened in advance carries the next requests")
    func preconnectingHTTP2() async throws {
        let nginx = try NginxServer()
        try await nginx.start()
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: try TestCertificates.shared().caFile)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        try await stack.preconnect(to: HTTP.Origin(of: HTTP.Request(url: nginx.httpsURL("/")).url))
        #expect(try nginx.accessLog().isEmpty)
        let fetched = try await stack.fetch(resource: get(nginx.httpsURL("/json")))
        #expect(fetched.response.version == .http2)
        #expect(fetched.response.metrics.isConnectionReused == true)
        #expect(await stack.gauges.total.connections == 1)
    }

    @Test("a request on a preconnection is not repeated if the server has processed it")
    func preconnectingThenGoAway() async throws {
        let certificates = try TestCertificates.shared()
        let options = ScriptedServer.Options(tls: certificates.server, applicationProtocols: ["h2"])
        let received = Lock(0)
        let server = try ScriptedServer(options) { _ in
            [
                .beginHTTP2, .receiveStream, .run { _ in received.withLock { $0 += 1 } },
                .send([.goAway(lastStream: 1)]), .close,
            ]
        }
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        try await stack.preconnect(to: origin(server, host: "localhost"))
        let url = server.url("/", host: "localhost")
        let request = try HTTP.Request(method: .POST, url: url, body: .bytes(Data("hello".utf8)))
        await #expect(throws: (any Error).self) {
            try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
        }
        #expect(received.withLock { $0 } == 1)
    }

    @Test("a request with close over HTTP/2 gets its whole response and keeps the connection")
    func closeOverHTTP2() async throws {
        let certificates = try TestCertificates.shared()
        let options = ScriptedServer.Options(tls: certificates.server, applicationProtocols: ["h2"])
        let server = try ScriptedServer(options) { _ in
            [
                .beginHTTP2, .receiveStream, .send([.head(200, on: 1), .data("whole", on: 1, endsStream: true)]),
                .receiveStream, .send([.head(200, on: 3), .data("whole", on: 3, endsStream: true)]), .waitForClose,
            ]
        }
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        for _ in 1...2 {
            let request = try HTTP.Request(url: server.url("/", host: "localhost"), headers: [.connection: "close"])
            let fetched = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
            #expect(fetched.value == Data("whole".utf8))
        }
        #expect(server.snapshot.accepted == 1)
    }

    @Test("a fetch waits without polling for a connection that another opens through a proxy")
    func unfinishedTunnels() async throws {
        let certificates = try TestCertificates.shared()
        var options = NginxServer.Options()
        options.maxConcurrentStreams = 1
        let (nginx, proxy) = (try NginxServer(options), try TLSProxy(nil, delayingTunnels: 1500))
        try await nginx.start()
        try await proxy.start()
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        configuration.proxies = .init(try Network.Proxy("http://127.0.0.1:\(proxy.port)"))
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        _ = try await stack.fetch(resource: get(nginx.httpsURL("/json")))
        let slow = try get(nginx.httpsURL("/slow/bytes/64k"))
        async let first = stack.fetch(resource: slow)
        try await Task.sleep(for: .milliseconds(200))
        async let second = stack.fetch(resource: slow)
        while proxy.tunnels < 2 { try await Task.sleep(for: .milliseconds(10)) }
        async let third = stack.fetch(resource: slow)
        let before = clock()
        try await Task.sleep(for: .seconds(1))
        let used = clock() - before
        // Polling uses all of it.
        #expect(used < 300_000, "\(used) µs of processor time in a second")
        for fetched in try await [first, second, third] { #expect(fetched.value.count == 65_536) }
    }
}
