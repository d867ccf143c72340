import CurlStack
import FoundationEssentials
import NetworkStack
import NetworkStackConformance
import NetworkStackTesting
import Testing

/// Connections that are opened before a request needs them.
@Suite("CurlStack's connections opened in advance", .serialized, .timeLimit(.minutes(1)))
struct PreconnectionTests {
    private func origin(_ server: ScriptedServer, host: String? = nil) throws -> HTTP.Origin {
        try HTTP.Origin(of: HTTP.Request(url: server.url("/", host: host)).url)
    }

    @Test(
        "a preconnection carries the next request, and sent nothing before",
        arguments: [false, true]
    )
    func preconnecting(isSecure: Bool) async throws {
        let certificates = try TestCertificates.shared()
        let options = isSecure ? ScriptedServer.Options(tls: certificates.server) : .init()
        let server = try ScriptedServer.responding(options) { _ in .ok("done") }
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        try await stack.preconnect(to: origin(server, host: "localhost"))
        try await server.waitUntil { $0.accepted == 1 && (!isSecure || $0.connections[0].handshake == .done) }
        #expect(server.connections[0].receivedCount == 0)
        var reused: [Bool?] = []
        for _ in 1...2 {
            let fetched = try await stack.fetch(resource: get(server.url("/", host: "localhost")))
            reused.append(fetched.response.metrics.isConnectionReused)
        }
        let accepted = server.snapshot.accepted
        withKnownIssue("libcurl 8.0 and newer use no connection on which session tickets wait (curl #10690)") {
            #expect(reused == [true, true])
            #expect(accepted == 1)
        } when: {
            isSecure && CurlLibrary.shared.versionNumber >= 0x080000
        }
    }

    /// A slow machine cannot make it fail: a delay only brings the end of the Keep-Alive time closer.
    @Test("a preconnection over an idle connection does not extend its Keep-Alive time")
    func preconnectingOverAnIdleConnection() async throws {
        let server = try ScriptedServer.responding { _ in .ok("done", headers: [("Keep-Alive", "timeout=2")]) }
        let stack = try Network.CurlNetworkStack()
        _ = try await stack.fetch(resource: get(server.url()))
        try await Task.sleep(for: .milliseconds(500))
        try await stack.preconnect(to: origin(server))
        try await Task.sleep(for: .milliseconds(600))
        let fetched = try await stack.fetch(resource: get(server.url()))
        #expect(fetched.response.metrics.isConnectionReused == false)
        #expect(server.snapshot.accepted == 2)
    }

    @Test("a failed preconnection fails like a fetch")
    func preconnectingInVain() async throws {
        let closed = try ClosedPort.reserve()
        let stack = try Network.CurlNetworkStack()
        let origin = try HTTP.Origin(of: HTTP.Request(url: "http://127.0.0.1:\(closed.port)").url)
        await #expect {
            try await stack.preconnect(to: origin)
        } throws: { error in
            guard case .transport(let cause, _)? = error as? Network.CurlFetchError else { return false }
            return cause.code == .couldNotConnect
        }
        await stack.shutdown()
        await #expect(throws: Network.CurlFetchError.self) { try await stack.preconnect(to: origin) }
    }

    @Test("an opening preconnection can be cancelled")
    func cancelledPreconnection() async throws {
        let silent = try ScriptedServer(silence(try TestCertificates.shared())) { _ in [] }
        let stack = try Network.CurlNetworkStack()
        let origin = try origin(silent)
        let task = Task { try await stack.preconnect(to: origin) }
        try await silent.waitUntil { $0.connections.first.map { $0.receivedCount > 0 } ?? false }
        task.cancel()
        await #expect(throws: Network.CurlFetchError.self) { try await task.value }
        try await silent.waitUntil { $0.open == 0 }
    }

    @Test("an opening preconnection is cancelled by a shutdown")
    func shutDownPreconnection() async throws {
        let silent = try ScriptedServer(silence(try TestCertificates.shared())) { _ in [] }
        let stack = try Network.CurlNetworkStack()
        let origin = try origin(silent)
        let task = Task { try await stack.preconnect(to: origin) }
        try await silent.waitUntil { $0.connections.first.map { $0.receivedCount > 0 } ?? false }
        await stack.shutdown()
        await #expect {
            try await task.value
        } throws: { error in
            guard case .shutDown? = error as? Network.CurlFetchError else { return false }
            return true
        }
        try await silent.waitUntil { $0.open == 0 }
    }

    @Test("a preconnection has its timeout while another fetch negotiates the protocol")
    func followingPreconnection() async throws {
        let silent = try ScriptedServer(silence(try TestCertificates.shared())) { _ in [] }
        var configuration = Network.Configuration()
        configuration.options.timeouts.connect = .milliseconds(300)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let patient = Task {
            try await stack.fetch(
                resource: .init(
                    baseRequestMaking: .request(HTTP.Request(url: silent.url())),
                    options: { $0 = HTTP.Options() }
                )
            )
        }
        try await silent.waitUntil { $0.connections.first.map { $0.receivedCount > 0 } ?? false }
        try await ConformanceCheck.expectInProportion(to: .milliseconds(300)) {
            let start = ContinuousClock.now
            await #expect {
                try await stack.preconnect(to: origin(silent))
            } throws: { error in
                guard case .timedOut(.connect, _, _)? = error as? Network.CurlFetchError else { return false }
                return true
            }
            return .now - start
        }
        patient.cancel()
        _ = await patient.result
    }

    private func silence(_ certificates: TestCertificates) -> ScriptedServer.Options {
        var options = ScriptedServer.Options(tls: certificates.server)
        options.answersHandshake = false
        return options
    }
}
