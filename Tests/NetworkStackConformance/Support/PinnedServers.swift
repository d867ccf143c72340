import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// The set-up of checks of pinning.
struct PinnedTrial {
    /// The capabilities that a stack needs.
    static let needs: Set<HTTP.Capability> = [.network, .customTrustRoots, .publicKeyPinning]

    let subject: ConformanceSubject
    let certificates: TestCertificates

    init(_ subject: ConformanceSubject) throws {
        self.subject = subject
        certificates = try .shared()
    }

    /// The pins of certificates in the chain of the valid server: its own, the intermediate's, the root's.
    func pins(_ names: PinnedCertificate...) throws -> Set<String> {
        try Set(
            names.map { name in
                switch name {
                case .leaf: try certificates.server.publicKeyPins()[0]
                case .intermediate: try TLSIdentity.publicKeyPins(inFile: certificates.intermediateFile)[0]
                case .root: try TLSIdentity.publicKeyPins(inFile: certificates.caFile)[0]
                case .otherLeaf: try certificates.rotatedServer.publicKeyPins()[0]
                case .otherRoot: try TLSIdentity.publicKeyPins(inFile: certificates.secondCAFile)[0]
                }
            }
        )
    }

    /// A policy for the host of the test servers.
    func trust(
        _ pins: Set<String>,
        for host: String = "127.0.0.1",
        scope: PinningPolicy.Scope = .chain,
        expires: Date = .distantFuture,
        notPinned: Bool = false,
        mode: ServerTrustConfiguration.Mode = .enforced
    ) throws -> ServerTrustConfiguration {
        let policy = try PinningPolicy(
            domainName: host,
            expirationDate: expires,
            pinnedHashes: pins,
            enforceBackupPin: false,
            scope: scope
        )
        return try ServerTrustConfiguration(pinningPolicies: [policy], allowNotPinnedDomains: notPinned, mode: mode)
    }

    /// A client that trusts both roots, with these policies.
    func client(
        _ trust: ServerTrustConfiguration?,
        _ change: (inout Network.Configuration) throws -> Void = { _ in }
    ) throws -> BoundedClient {
        try subject.client { configuration in
            configuration.tls.trustRoots = .file(path: certificates.bothRootsFile)
            configuration.serverTrust = trust
            try change(&configuration)
        }
    }

    /// A server whose response contains a secret.
    func server(
        _ identity: TLSIdentity? = nil,
        _ change: (inout ScriptedServer.Options) -> Void = { _ in }
    ) throws -> ScriptedServer {
        var options = ScriptedServer.Options(tls: identity ?? certificates.server)
        change(&options)
        return try ScriptedServer.responding(options) { _ in .ok("secret") }
    }

    /// A server that resets its first connection at the second request, without a response. Later connections show another
    /// identity.
    func serverThatDies(then impostor: TLSIdentity) throws -> ScriptedServer {
        var options = ScriptedServer.Options(tls: certificates.server)
        options.identityForConnection = { $0 == 0 ? nil : impostor }
        let ok = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return try ScriptedServer(options) { index in
            [.receiveHead, ok] + (index == 0 ? [.receiveHead, .reset] : [.waitForClose])
        }
    }

    /// A request with secrets.
    func request(_ url: String) throws -> HTTP.Request {
        try HTTP.Request(
            method: .POST,
            url: url,
            headers: [.authorization: "Bearer token"],
            body: .bytes(Data("secret".utf8))
        )
    }
}

enum PinnedCertificate {
    case leaf
    case intermediate
    case root
    case otherLeaf
    case otherRoot
}

extension BoundedClient {
    /// Fetches and expects a refusal because the server is not trusted.
    @discardableResult
    func distrust(
        _ request: HTTP.Request,
        options: HTTP.Options? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> ServerTrustError {
        let refusal = try await refusal(request, options: options, file: file, line: line)
        guard case .untrusted(let error, _) = refusal else {
            throw ConformanceFailure("Expected the server not to be trusted, saw \(refusal)", file: file, line: line)
        }
        try expect(refusal.isUntrusted, "isUntrusted is false for \(refusal)", file: file, line: line)
        return error
    }

    /// Fetches and expects a refusal because no pin matched; returns the keys of the chain.
    @discardableResult
    func mismatch(
        _ request: HTTP.Request,
        options: HTTP.Options? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> [PublicKeyPin] {
        let error = try await distrust(request, options: options, file: file, line: line)
        guard case .pinVerificationFailed(_, .pinnedHashNotFound(let chain)) = error else {
            throw ConformanceFailure("Expected that no pin matched, saw \(error)", file: file, line: line)
        }
        return chain
    }

    /// Fetches and expects a refusal because ordinary verification failed; returns the verifier's number.
    @discardableResult
    func unverified(
        _ request: HTTP.Request,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Int? {
        let error = try await distrust(request, file: file, line: line)
        guard case .pinVerificationFailed(_, .evaluation(let result, _)) = error else {
            throw ConformanceFailure("Expected that verification failed, saw \(error)", file: file, line: line)
        }
        return result
    }
}

extension ScriptedServer {
    /// Expects that connections were refused in the handshake: no byte of a request arrived, and no certificate.
    func expectNothingReceived(
        handshakes: Bool = false,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        let snapshot = try await sees("the end of its connections", file: file, line: line) { $0.open == 0 }
        try expectEqual(snapshot.requests.count, 0, "requests", file: file, line: line)
        let bytes = snapshot.connections.map(\.receivedCount).reduce(0, +)
        try expectEqual(bytes, 0, "bytes received after the handshake", file: file, line: line)
        try expect(
            !snapshot.connections.contains(where: \.isClientCertificateSeen),
            "A client certificate was shown",
            file: file,
            line: line
        )
        guard !handshakes else { return }
        try expect(
            !snapshot.connections.contains { $0.handshake == .done },
            "The client finished a handshake: \(snapshot.connections)",
            file: file,
            line: line
        )
    }
}

/// Expects no further report. Reports arrive on the stack's queue, so another one may come a little later than the fetch's end.
func expectNoMore(_ reports: Lock<[ServerTrustReport]>, file: StaticString = #fileID, line: UInt = #line) async throws {
    let count = reports.withLock { $0.count }
    try await Task.sleep(for: .milliseconds(50))
    try expectEqual(reports.withLock { $0.count }, count, "reports", file: file, line: line)
}
