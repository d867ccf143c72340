import CurlStack
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("What a curl error tells")
struct CurlErrorTests {
    @Test("what is wrong with a certificate", .timeLimit(.minutes(1)))
    func certificates() async throws {
        let certificates = try TestCertificates.shared()
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let faults: [(TLSIdentity, CurlError.CertificateFault)] = [
            (certificates.untrusted, .untrusted), (certificates.expired, .expired),
            (certificates.wrongHost, .wrongHost),
        ]
        for (identity, fault) in faults {
            let server = try ScriptedServer.responding(.init(tls: identity)) { _ in .ok("secret") }
            let request = try HTTP.Request(url: server.url("/", host: "localhost"))
            do {
                _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
                Issue.record("A server with a certificate that is \(fault) was trusted")
            } catch HTTPFetchError.transport(let error) {
                #expect(error.certificateFault == fault, "\(error)")
                #expect(error.kind == .tls)
                #expect(error.phase == .securing)
            }
        }
    }

    @Test("what is wrong with the certificate of a proxy", .timeLimit(.minutes(1)), arguments: ["http", "https"])
    func proxies(_ scheme: String) async throws {
        let certificates = try TestCertificates.shared()
        let faults: [(TLSIdentity, CurlError.CertificateFault)] = [
            (certificates.untrusted, .untrusted), (certificates.expired, .expired),
            (certificates.wrongHost, .wrongHost),
        ]
        for (identity, fault) in faults {
            let proxy = try ScriptedServer.responding(.init(tls: identity)) { _ in .ok("secret") }
            var configuration = Network.Configuration()
            configuration.tls.trustRoots = .file(path: certificates.caFile)
            configuration.proxies = .init(try Network.Proxy("https://localhost:\(proxy.port)"))
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            do {
                _ = try await stack.fetch(resource: get("\(scheme)://origin.test/"))
                Issue.record("A proxy with a certificate that is \(fault) was trusted")
            } catch HTTPFetchError<HTTP.Response, CurlError>.transport(let error) {
                #expect(error.certificateFault == fault, "\(error)")
                #expect(error.isProxyFailure)
                #expect(error.kind == .tls)
            }
        }
    }
}
