import NetworkStack
import NetworkStackTesting
import Testing

@testable import CurlStack

@Suite("The description of a curl error")
struct CurlErrorTests {
    @Test("names the fault of a certificate", .timeLimit(.minutes(1)))
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
            } catch HTTPFetchError.transport(let error, _) {
                #expect(error.certificateFault == fault, "\(error)")
                #expect(error.kind == .tls)
                #expect(error.phase == .securing)
            }
        }
    }

    @Test("shows no text of libcurl's that quotes a proxy's credentials")
    func credentials() throws {
        let proxy = try Network.Proxy("http://user:secret@proxy.test:1")
        #expect(proxy.mayBeRevealed(by: "Unsupported proxy syntax in 'http://%75%73"))
        #expect(!proxy.mayBeRevealed(by: "Could not resolve proxy: proxy.test"))
        let open = try Network.Proxy("http://proxy.test:1")
        #expect(!open.mayBeRevealed(by: "Unsupported proxy syntax in 'http://proxy.test:1'"))
    }

    @Test("names a certificate chain that ends in no trusted root", .timeLimit(.minutes(1)))
    func chains() async throws {
        let certificates = try TestCertificates.shared()
        let root = TLSIdentity(certificateChainFile: certificates.untrustedCAFile, keyFile: "")
        let folder = try TemporaryDirectory("self-signed")
        let alone = TLSIdentity(certificateChainFile: folder.file("own.pem"), keyFile: folder.file("own.key"))
        try Program("openssl", package: "openssl").run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost", "-keyout", alone.keyFile, "-out", alone.certificateChainFile,
        ])
        let chains = [
            ("its own signature", alone), ("an issuer that is not sent", certificates.untrusted),
            ("a root that is sent along", try certificates.identity(certificates.untrusted, presentingAlso: root)),
            ("an intermediate of a root that is not trusted", certificates.server),
        ]
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.secondCAFile)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        for (end, identity) in chains {
            let server = try ScriptedServer.responding(.init(tls: identity)) { _ in .ok("secret") }
            let error = await #expect(throws: Network.CurlFetchError.self, "\(end)") {
                try await stack.fetch(resource: get(server.url("/", host: "localhost")))
            }
            guard case .transport(let failure, _) = error else {
                Issue.record("\(end): not a transport error")
                continue
            }
            #expect(failure.certificateFault == .untrusted, "\(end): \(failure)")
        }
    }

    @Test("names the fault of a proxy's certificate", .timeLimit(.minutes(1)), arguments: ["http", "https"])
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
            } catch HTTPFetchError<HTTP.Response, CurlError>.transport(let error, _) {
                #expect(error.certificateFault == fault, "\(error)")
                #expect(error.isProxyFailure)
                #expect(error.kind == .tls)
            }
        }
    }

    @Test("has the text of libcurl and of the system, and the host", .timeLimit(.minutes(1)))
    func details() async throws {
        let closed = try ClosedPort.reserve()
        let refused = try await transportError(from: "http://127.0.0.1:\(closed.port)/")
        #expect(refused?.code == .couldNotConnect && refused?.code.description == "CURLE_COULDNT_CONNECT")
        #expect(refused?.systemError == 111)  // ECONNREFUSED
        #expect(refused?.message.contains("\(closed.port)") ?? false)
        #expect(refused?.phase == .connecting && refused?.remoteAddress == nil)

        let server = try ScriptedServer { _ in
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok"), .close]
        }
        let truncated = try await transportError(from: "\(server.url())")
        #expect(truncated?.code == .partialFile && truncated?.systemError == nil)
        #expect(truncated?.message.contains("8 bytes") ?? false)
        #expect(truncated?.phase == .receiving && truncated?.remoteAddress == "127.0.0.1")
    }

    private func transportError(from url: String) async throws -> CurlError? {
        let stack = try Network.CurlNetworkStack()
        do { _ = try await stack.fetch(resource: get(url)) } catch HTTPFetchError<HTTP.Response, CurlError>.transport(
            let error,
            _
        ) {
            return error
        }
        return nil
    }

    @Test("names no address that refused an earlier transfer", .timeLimit(.minutes(1)))
    func systemErrorOfAnother() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: "
        let server = try ScriptedServer { _ in
            [.receiveHead, .send(head + "2\r\n\r\nok"), .receiveHead, .send(head + "10\r\n\r\nok"), .close]
        }
        var configuration = Network.Configuration()
        // Nothing listens at the first address.
        configuration.addresses.hostOverrides = [
            try .init(host: "two.test", port: Int(server.port), addresses: ["127.0.0.9", "127.0.0.1"])
        ]
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let resource = try Network.CurlResource(
            baseRequestMaking: .request(.init(url: server.url("/", host: "two.test")))
        )
        _ = try await stack.fetch(resource: resource)
        let error = await #expect(throws: Network.CurlFetchError.self) { try await stack.fetch(resource: resource) }
        guard case .transport(let failure, _) = error else {
            Issue.record("The error is not a transport error")
            return
        }
        #expect(server.snapshot.accepted == 1 && failure.code == .partialFile && failure.systemError == nil)
    }
}
