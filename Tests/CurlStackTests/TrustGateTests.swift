import CCurl
import Foundation
import NetworkStackTesting
import Testing

@testable import CurlStack
@testable import NetworkStack

/// Hops with different trust on one connection, which no configuration of a stack can produce.
@Suite("The gates to a pinned server", .timeLimit(.minutes(1)))
struct TrustGateTests {
    let certificates: TestCertificates
    let stack: Network.CurlNetworkStack

    init() throws {
        certificates = try .shared()
        stack = try Self.stack(certificates)
    }

    private static func stack(
        _ certificates: TestCertificates,
        _ verification: Network.TLSConfiguration.Verification = .full
    ) throws -> Network.CurlNetworkStack {
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.bothRootsFile)
        configuration.tls.verification = verification
        return try Network.CurlNetworkStack(configuration: configuration)
    }

    /// A hop with its own trust: no pins for ordinary trust.
    private func hop(
        _ url: String,
        pins: [String],
        scope: PinningPolicy.Scope = .chain,
        method: HTTP.Method = .GET
    ) throws -> HTTPHop {
        let request = try HTTP.Request(method: method, url: url, headers: [.authorization: "Bearer token"])
        let (checked, origin, text, _) = try request.checked()
        var trust = ServerTrust.ordinary
        if !pins.isEmpty {
            let policy = try PinningPolicy(
                domainName: origin.host,
                pinnedHashes: Set(pins),
                enforceBackupPin: false,
                scope: scope
            )
            trust = try ServerTrustJudge(ServerTrustConfiguration(pinningPolicies: [policy])).trust(for: origin)
        }
        return HTTPHop(
            request: checked,
            origin: origin,
            urlText: text,
            options: Shared(.init()),
            trust: trust,
            source: nil,
            allowsWithholding: true
        )
    }

    /// Runs a hop and returns its refusal, or `nil` if it succeeded.
    private func carry(_ hop: HTTPHop, on stack: Network.CurlNetworkStack? = nil) async throws -> ServerTrustError? {
        let sink = EndSink()
        let transfer = (stack ?? self.stack).engine.transport.start(hop, sink: sink)
        try await sink.ended.opened()
        withExtendedLifetime(transfer) {}
        switch sink.failure.withLock({ $0 }) {
        case nil: return nil
        case .untrusted(let error): return error
        case let failure?: throw failure
        }
    }

    private func isMismatch(_ error: ServerTrustError?) -> Bool {
        if case .pinVerificationFailed(_, .pinnedHashNotFound) = error { true } else { false }
    }

    @Test("a connection opened without pins carries a request only past the pins")
    func reuse() async throws {
        let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secret") }
        let root = try TLSIdentity.publicKeyPins(inFile: certificates.caFile)
        let other = try TLSIdentity.publicKeyPins(inFile: certificates.secondCAFile)
        #expect(try await carry(hop(server.url(), pins: [])) == nil)
        #expect(try await carry(hop(server.url(), pins: root)) == nil)
        let bytes = server.connections[0].receivedCount
        #expect(server.snapshot.accepted == 1)
        #expect(try await isMismatch(carry(hop(server.url(), pins: other))))
        try await server.waitUntil { $0.open == 0 }
        #expect(server.requests.count == 2)
        #expect(server.snapshot.accepted == 1)
        #expect(server.connections[0].receivedCount == bytes)
    }

    @Test("an HTTP/2 connection opened without pins carries a request only past the pins")
    func reuseOfHTTP2() async throws {
        let nginx = try NginxServer()
        try await nginx.start()
        let url = nginx.httpsURL("/json")
        let root = try TLSIdentity.publicKeyPins(inFile: certificates.caFile)
        let other = try TLSIdentity.publicKeyPins(inFile: certificates.secondCAFile)
        #expect(try await carry(hop(url, pins: [])) == nil)
        #expect(try await carry(hop(url, pins: root)) == nil)
        #expect(try await isMismatch(carry(hop(url, pins: other))))
        #expect(try await carry(hop(url, pins: [])) == nil)
        let log = try await nginx.waitForLog { $0.count >= 3 }
        #expect(log.count == 3)
        #expect(Set(log.prefix(2).map(\.connection)).count == 1)
        #expect(Set(log.map(\.serverProtocol)) == ["HTTP/2.0"])
    }

    @Test("a chain that failed verification does not count, whatever certificates it names")
    func verifyResult() async throws {
        let server = try ScriptedServer.responding(.init(tls: certificates.forged)) { _ in .ok("secret") }
        let lenient = try Self.stack(certificates, .disabledForTesting)
        let pins = try TLSIdentity.publicKeyPins(inFile: certificates.intermediateFile)
        #expect(try await carry(hop(server.url(), pins: []), on: lenient) == nil)
        let refusal = try await carry(hop(server.url(), pins: pins), on: lenient)
        guard case .pinVerificationFailed(_, .evaluation(let result, _)) = refusal else {
            Issue.record("Expected a failed verification, saw \(String(describing: refusal))")
            return
        }
        #expect(result != 0)
        #expect(server.requests.count == 1)
        #expect(server.snapshot.accepted == 1)
    }

    @Test(
        "a session begun without pins is not resumed where pins count",
        arguments: [ScriptedServer.Options.TLSVersion.v12, .v13]
    )
    func sessions(version: ScriptedServer.Options.TLSVersion) async throws {
        var options = ScriptedServer.Options(tls: certificates.server)
        options.maximumTLSVersion = version
        let server = try ScriptedServer.responding(options) { _ in
            .ok("secret", headers: [("Connection", "close")]).then(.close)
        }
        let root = try TLSIdentity.publicKeyPins(inFile: certificates.caFile)
        let other = try TLSIdentity.publicKeyPins(inFile: certificates.secondCAFile)
        for pins in [[], [], root, []] { #expect(try await carry(hop(server.url(), pins: pins)) == nil) }
        #expect(try await isMismatch(carry(hop(server.url(), pins: other))))
        try await server.waitUntil { $0.accepted == 5 && $0.open == 0 }
        #expect(server.requests.count == 4)
        #expect(server.connections.prefix(4).map { $0.tls?.isResumed ?? false } == [false, true, false, true])
        #expect(server.connections[4].handshake != .done)
    }

    @Test("a preconnection is opened only to a server with its keys")
    func preconnection() async throws {
        let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secret") }
        var options = ScriptedServer.Options(tls: certificates.rotatedServer)
        options.clientCertificate = .requested
        let impostor = try ScriptedServer.responding(options) { _ in .ok("secret") }
        for scope in PinningPolicy.Scope.allCases {
            let policy = try PinningPolicy(
                domainName: "127.0.0.1",
                pinnedHashes: [certificates.server.publicKeyPins()[0]],
                enforceBackupPin: false,
                scope: scope
            )
            var configuration = Network.Configuration()
            configuration.tls.trustRoots = .file(path: certificates.bothRootsFile)
            configuration.tls.clientIdentity = Network.ClientIdentity(
                .pemFiles(
                    certificateChain: certificates.client.certificateChainFile,
                    privateKey: certificates.client.keyFile
                )
            )
            configuration.serverTrust = try ServerTrustConfiguration(pinningPolicies: [policy])
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            try await stack.preconnect(to: HTTP.Origin(of: HTTP.Request(url: server.url()).url))
            for (url, isMismatch) in [(impostor.url(), true), (server.url(host: "localhost"), false)] {
                let origin = try HTTP.Origin(of: HTTP.Request(url: url).url)
                await #expect {
                    try await stack.preconnect(to: origin)
                } throws: { error in
                    guard case .untrusted(let refusal, _)? = error as? Network.CurlFetchError else {
                        return false
                    }
                    return isMismatch ? self.isMismatch(refusal) : refusal == .domainNotPinned(host: "localhost")
                }
            }
        }
        try await impostor.waitUntil { $0.accepted == 2 && $0.open == 0 }
        #expect(!impostor.connections.contains { $0.handshake == .done || $0.isClientCertificateSeen })
        #expect(server.snapshot.accepted == 2)
        #expect(server.requests.isEmpty)
    }

    @Test("a leaf policy never shares a connection opened without its pins")
    func leafConnections() async throws {
        let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secret") }
        let leaf = try [certificates.server.publicKeyPins()[0]]
        for _ in 1...2 {
            #expect(try await carry(hop(server.url(), pins: [])) == nil)
            #expect(try await carry(hop(server.url(), pins: leaf, scope: .leaf)) == nil)
        }
        #expect(server.snapshot.accepted == 2)
    }

    @Test("libcurl itself enforces a leaf policy on the server's certificate")
    func ownOption() throws {
        let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok() }
        let leaf = try certificates.server.publicKeyPins()[0]
        let intermediate = try TLSIdentity.publicKeyPins(inFile: certificates.intermediateFile)[0]
        for (pin, scope, expected) in [
            (leaf, PinningPolicy.Scope.leaf, CURLE_OK), (intermediate, .leaf, CURLE_SSL_PINNEDPUBKEYNOTMATCH),
            (intermediate, .chain, CURLE_OK),
        ] {
            // Without callbacks there is no gate.
            let multi = try #require(MultiHandle(poller: Poller(waker: Waker()), connections: ConnectionTable()))
            let easy = try #require(EasyHandle(multi))
            try easy.set(CURLOPT_CAINFO, certificates.caFile)
            let plan = TransferPlan(
                try hop(server.url(), pins: [pin], scope: scope, method: .HEAD),
                userAgent: nil,
                contentCodings: ""
            )
            try easy.apply(plan, standard: TextList([]))
            #expect(curl_easy_perform(easy.pointer) == expected)
        }
        #expect(server.requests.count == 2)
    }

    @Test(
        "an option that libcurl refuses is reported as unsupported pinning",
        arguments: [CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION]
    )
    func refusedOption(code: CURLcode) throws {
        let sink = EndSink()
        let hop = try hop("https://127.0.0.1/", pins: certificates.server.publicKeyPins())
        let control = TransferControl(hop: hop, sink: sink, mailbox: Mailbox())
        var queue = ConnectionQueue(limits: .init())
        let hostQueue = queue.hostQueue(of: .init(origin: hop.origin, version: .automatic))
        Transfer(control, hostQueue: hostQueue, context: LoopContext(), at: .now).finish(code)
        guard case .untrusted(.pinningUnsupported(let reason)) = sink.failure.withLock({ $0 }) else {
            Issue.record("The transfer was not refused")
            return
        }
        #expect(reason.contains("libcurl"))
    }
}
