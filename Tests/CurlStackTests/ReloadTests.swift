import Dispatch
import Foundation
import NetworkStack
import NetworkStackTesting
import Testing

@testable import CurlStack

@Suite("Reloaded certificates", .serialized, .timeLimit(.minutes(1)))
struct ReloadTests {
    /// Records the reloads of certificates.
    private final class Reloads: EventListener {
        let errors = Lock<[String?]>([])

        func certificatesReloaded(error: (any Error)?) {
            errors.withLock { $0.append(error.map { "\($0)" }) }
        }
    }

    private let certificates: TestCertificates
    private let folder: TemporaryDirectory

    init() throws {
        certificates = try TestCertificates.shared()
        folder = try TemporaryDirectory("reload")
    }

    private var chain: String { folder.file("chain.pem") }
    private var key: String { folder.file("key.pem") }
    private var roots: String { folder.file("roots.pem") }

    private func write(_ identity: TLSIdentity) throws {
        try copy(identity.certificateChainFile, to: chain)
        try copy(identity.keyFile, to: key)
    }

    private func copy(_ path: String, to place: String) throws {
        try Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: place), options: .atomic)
    }

    private func stack(_ change: (inout Network.Configuration) -> Void = { _ in }) throws -> Network.CurlNetworkStack {
        try copy(certificates.caFile, to: roots)
        try write(certificates.client)
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: roots)
        configuration.tls.clientIdentity = .init(.pemFiles(certificateChain: chain, privateKey: key))
        change(&configuration)
        return try Network.CurlNetworkStack(configuration: configuration)
    }

    private var options: ScriptedServer.Options {
        var options = ScriptedServer.Options(tls: certificates.server)
        options.clientCertificate = .requested
        return options
    }

    private func names(_ server: ScriptedServer) -> [String?] {
        server.connections.map { $0.tls?.clientCertificateSubject }
    }

    @Test("serve new connections, and requests under way finish on theirs")
    func identity() async throws {
        let (arrived, mayAnswer) = (Gate(), DispatchSemaphore(value: 0))
        defer { mayAnswer.signal() }
        let server = try ScriptedServer.responding(options) { request in
            if request.path == "/held" {
                arrived.open()
                mayAnswer.wait()
            }
            return .ok("done")
        }
        let stack = try stack()
        let (quick, held) = (try get(server.url()), try get(server.url("/held")))
        let waiting = Task { try await stack.fetch(resource: held).value }
        try await arrived.opened()
        _ = try await stack.fetch(resource: quick)
        #expect(names(server) == ["/CN=client", "/CN=client"])

        try write(certificates.rotatedServer)
        try await stack.reloadCertificates()
        for _ in 0..<2 { _ = try await stack.fetch(resource: quick) }
        #expect(names(server) == ["/CN=client", "/CN=client", "/CN=localhost"])
        #expect(server.connections.last?.tls?.isResumed == false)

        mayAnswer.signal()
        #expect(try await waiting.value == Data("done".utf8))
        // Connections with the former certificates close after the last request on them, the idle one included.
        try await server.waitUntil { $0.connections.prefix(2).allSatisfy { $0.state == .closedByPeer } }
        _ = try await stack.fetch(resource: quick)
        #expect(server.snapshot.accepted == 3)
        #expect(await stack.gauges.total.connections == 1)
    }

    @Test("close idle connections at once")
    func idle() async throws {
        let server = try ScriptedServer.responding(options) { _ in .ok("done") }
        let stack = try stack()
        _ = try await stack.fetch(resource: get(server.url()))
        try await stack.reloadCertificates()
        #expect(await stack.gauges.total.connections == 0)
        try await server.waitUntil { $0.connections[0].state == .closedByPeer }
    }

    @Test("stay unchanged if a file is broken, and listeners get an event")
    func broken() async throws {
        let server = try ScriptedServer.responding(options) { _ in .ok("done") }
        let reloads = Reloads()
        let stack = try stack { $0.listeners = [reloads] }
        _ = try await stack.fetch(resource: get(server.url()))
        try Data("broken".utf8).write(to: URL(filePath: key))
        await #expect(throws: Network.ConfigurationError.self) { try await stack.reloadCertificates() }
        _ = try await stack.fetch(resource: get(server.url()))
        #expect(server.snapshot.accepted == 1)
        try write(certificates.client)
        try await stack.reloadCertificates()
        _ = try await stack.fetch(resource: get(server.url()))
        #expect(names(server) == ["/CN=client", "/CN=client"])
        let deadline = ContinuousClock.now + .seconds(10)
        while reloads.errors.withLock({ $0.count }) < 2, .now < deadline { try await Task.sleep(for: .milliseconds(2)) }
        let errors = reloads.errors.withLock { $0 }
        #expect(errors.count == 2 && errors[0]?.contains("of no use") == true && errors[1] == nil, "\(errors)")
    }

    @Test("decide which servers are trusted")
    func authorities() async throws {
        let server = try ScriptedServer.responding(options) { _ in .ok("done") }
        let stack = try stack()
        _ = try await stack.fetch(resource: get(server.url()))
        try copy(certificates.untrustedCAFile, to: roots)
        try await stack.reloadCertificates()
        let refusal = await #expect(throws: Network.CurlFetchError.self) {
            try await stack.fetch(resource: get(server.url()))
        }
        #expect(refusal?.transportFailure == .tls)
        try copy(certificates.caFile, to: roots)
        try await stack.reloadCertificates()
        _ = try await stack.fetch(resource: get(server.url()))
        #expect(server.requests.count == 2)
    }

    /// The first reload parses for longer than the second. Without an order, its certificates would replace those of the second.
    @Test("of two reloads at once, the later one counts")
    func twice() async throws {
        let server = try ScriptedServer.responding(options) { _ in .ok("done") }
        let stack = try stack()
        let former = try Data(contentsOf: URL(filePath: certificates.untrusted.certificateChainFile))
        try Data(Array(repeating: former, count: 500).joined()).write(to: URL(filePath: roots), options: .atomic)
        let first = Task { try await stack.reloadCertificates() }
        try await Task.sleep(for: .milliseconds(20))
        try copy(certificates.caFile, to: roots)
        try await stack.reloadCertificates()
        try await first.value
        _ = try await stack.fetch(resource: get(server.url()))
        #expect(server.requests.count == 1)
    }

    @Test("may be replaced while fetches run, over HTTP/1.1 and HTTP/2", arguments: [false, true])
    func underLoad(isHTTP2: Bool) async throws {
        let server = try ScriptedServer.responding(options) { _ in .ok("done") }
        let nghttpd = try NghttpdServer()
        try await nghttpd.start()
        let resource = try get(isHTTP2 ? nghttpd.url("/json") : server.url())
        let stack = try stack()
        let identities = [certificates.client, certificates.rotatedServer]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 { _ = try await stack.fetch(resource: resource) }
                }
            }
            for round in 0..<10 {
                try write(identities[round % 2])
                try await stack.reloadCertificates()
                try await Task.sleep(for: .milliseconds(5))
            }
            try await group.waitForAll()
        }
        try await stack.reloadCertificates()
        #expect(await stack.gauges.total.connections == 0)
        await stack.shutdown()
        try await stack.reloadCertificates()
    }
}
