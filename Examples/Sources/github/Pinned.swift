import CurlStack
import ExampleSupport
import Foundation
import NetworkStack
import NetworkStackTesting
import URLSessionStack

extension Main {
    /// A stack that proves its server by the key of the authority at the root, and one that expects another key.
    static func pinned() async throws {
        let certificates = try TestCertificates.shared()
        var options = ScriptedServer.Options()
        options.tls = certificates.server
        let server = try ScriptedServer.responding(options) { _ in .ok("pinned") }
        let request = try HTTP.Request(url: server.url("/", host: "localhost"))

        let rootPin = try pin(ofCertificateIn: certificates.caFile)
        let stack = try Network.CurlNetworkStack(configuration: pinning(rootPin, trusting: certificates.caFile))
        let fetched = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
        print("    the server has the pinned key and says '\(String(decoding: fetched.value, as: UTF8.self))'")

        let requests = server.requests.count
        let wrong = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let suspicious = try Network.CurlNetworkStack(configuration: pinning(wrong, trusting: certificates.caFile))
        do {
            _ = try await suspicious.fetch(resource: .init(baseRequestMaking: .request(request)))
            throw Surprise("a server with another key was trusted")
        } catch let error as Network.CurlFetchError {
            guard case .untrusted = error else { throw error }
            try expect(server.requests.count == requests, "the server saw a request it should not have seen")
            print("    a server with another key is refused, and sees nothing of the request")
        }

        // On Linux, URLSession cannot pin, and a stack on it will not pretend to.
        do {
            _ = try Network.URLSessionNetworkStack(configuration: pinning(rootPin))
        } catch {
            print("    URLSessionStack: \(error)")
        }
    }

    private static func pinning(_ pin: String, trusting roots: String? = nil) throws -> Network.Configuration {
        let policy = try PinningPolicy(
            domainName: "localhost",
            includeSubdomains: true,
            expirationDate: .distantFuture,
            pinnedHashes: [pin],
            enforceBackupPin: false  // An app has a backup pin, so as not to lock itself out.
        )
        var configuration = Network.Configuration()
        configuration.serverTrust = try ServerTrustConfiguration(
            pinningPolicies: [policy],
            certificateCheckingOrder: .rootToLeaf,
            allowNotPinnedDomains: false,
            allowExpiredDomainPolicies: false
        )
        if let roots { configuration.tls.trustRoots = .file(path: roots) }
        return configuration
    }

    /// The pin of a certificate, as OpenSSL makes it.
    private static func pin(ofCertificateIn path: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        let recipe = """
            openssl x509 -in "$0" -pubkey -noout | openssl pkey -pubin -outform der \
            | openssl dgst -sha256 -binary | openssl enc -base64
            """
        process.arguments = ["-c", recipe, path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let pin = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: pin, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
