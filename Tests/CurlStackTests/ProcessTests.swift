import CurlStack
import Glibc
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("CurlStack in its process", .serialized)
struct ProcessTests {
    @Test("a process may exit while transfers run", .timeLimit(.minutes(1)))
    func exitDuringTraffic() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let identity = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: identity.server)) { _ in
                .ok(bytes: Array(repeating: 65, count: 100_000))
            }
            var configuration = Network.Configuration()
            configuration.tls.trustRoots = .file(path: identity.caFile)
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            let request = try HTTP.Request(url: server.url("/", host: "localhost"))
            let landed = Gate()
            for _ in 0..<200 {
                stack.fetch(resource: .init(baseRequestMaking: .request(request))) { _ in landed.open() }
            }
            try await landed.opened()
            exit(7)
        }
    }
}
