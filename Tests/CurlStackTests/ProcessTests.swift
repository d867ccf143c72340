import CurlStack
import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("CurlStack and its process", .serialized)
struct ProcessTests {
    @Test(
        "a truncated TLS record and a reset do not crash the process",
        .timeLimit(.minutes(1))
    )
    func brokenRecord() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let identity = try TestCertificates.shared()
            let broken = Gate()
            let server = try ScriptedServer(.init(tls: identity.server)) { index in
                let answer = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                return index == 0
                    ? [.receiveHead, answer, .sendBelowTLS([0x17, 3, 3]), .reset, .open(broken)]
                    : [.receiveHead, answer, .waitForClose]
            }
            var configuration = Network.Configuration()
            configuration.tls.trustRoots = .file(path: identity.caFile)
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            let request = try HTTP.Request(url: server.url("/", host: "localhost"))
            _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
            try await broken.opened()
            _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
            exit(server.snapshot.accepted == 2 ? 7 : 1)
        }
    }

    @Test("runs with the libcurl that the suite was given", .enabled(if: getenv("LIBCURL_VERSION") != nil))
    func chosenLibrary() throws {
        #expect(CurlLibrary.shared.version == String(cString: try #require(getenv("LIBCURL_VERSION"))))
    }

    @Test("the environment's exceptions do not bypass a proxy", .timeLimit(.minutes(1)))
    func exceptionsOfTheEnvironment() async {
        await #expect(processExitsWith: .exitCode(7)) {
            for name in ["NO_PROXY", "no_proxy"] { setenv(name, "*", 1) }
            let origin = try ScriptedServer.responding { _ in .ok("direct") }
            let proxy = try ScriptedServer.responding { _ in .ok("by the proxy") }
            var configuration = Network.Configuration()
            configuration.proxies = .init(try Network.Proxy(proxy.url()))
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            let request = try HTTP.Request(url: origin.url())
            _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
            exit(origin.snapshot.accepted == 0 && proxy.snapshot.accepted == 1 ? 7 : 1)
        }
    }

    @Test("the highest possible limits are accepted", .timeLimit(.minutes(1)))
    func highestLimits() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let server = try ScriptedServer.responding { _ in .ok("x", headers: [("Content-Encoding", "identity")]) }
            var configuration = Network.Configuration()
            configuration.connections = .init(perHost: .max, total: .max, streamsPerConnection: .max)
            configuration.options.limits = .init(body: .max, head: .max, headFields: .max, decompressionRatio: .max)
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            let request = try HTTP.Request(url: server.url())
            _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
            exit(7)
        }
    }

    @Test("a stack without free descriptors fails and does not hang", .timeLimit(.minutes(1)))
    func noDescriptors() async {
        await #expect(processExitsWith: .exitCode(7)) { () async throws in
            let highest = dup(0)
            var limit = rlimit(rlim_cur: rlim_t(highest), rlim_max: rlim_t(highest))
            guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(1) }
            do {
                _ = try Network.CurlNetworkStack()
            } catch Network.ConfigurationError.invalid(let why) {
                exit(why.contains("descriptors") ? 7 : 2)
            }
            exit(3)
        }
    }

    @Test("TLS 1.1 is off by default, even where the system allows it in OpenSSL", .timeLimit(.minutes(1)))
    func oldestTLS() async {
        await #expect(processExitsWith: .exitCode(7)) {
            // OpenSSL reads it when it is first used. By itself it might refuse TLS 1.1 for another reason.
            let folder = try TemporaryDirectory("openssl")
            let settings = [
                "openssl_conf = a", "[a]", "ssl_conf = b", "[b]", "system_default = c", "[c]", "MinProtocol = TLSv1",
                "CipherString = DEFAULT:@SECLEVEL=0", "",
            ]
            try Data(settings.joined(separator: "\n").utf8).write(to: URL(filePath: folder.file("openssl.cnf")))
            setenv("OPENSSL_CONF", folder.file("openssl.cnf"), 1)
            let identity = try TestCertificates.shared()
            var options = ScriptedServer.Options(tls: identity.server)
            options.maximumTLSVersion = .v11
            let server = try ScriptedServer.responding(options) { _ in .ok("secret") }
            var configuration = Network.Configuration()
            configuration.tls.trustRoots = .file(path: identity.caFile)
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            let request = try HTTP.Request(url: server.url("/", host: "localhost"))
            do {
                _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
            } catch Network.CurlFetchError.transport(let error, _) where error.kind == .tls {
                let connection = try await server.waitUntil { $0.open == 0 }.connections.first
                exit(connection?.tls == nil && connection?.receivedCount == 0 ? 7 : 2)
            }
            exit(3)
        }
    }

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
