import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The certificate of the client, and its versions of TLS.
    static let clientIdentities: [ConformanceCheck] = [
        ConformanceCheck("A client presents its certificate on request, from files or bytes", needs: needsIdentities) {
            subject in
            let trial = try PinnedTrial(subject)
            let client = trial.certificates.client
            let (chain, key) = (client.certificateChainFile, client.keyFile)
            let encrypted = try trial.certificates.encryptedKey(of: client, passphrase: "open sesame")
            let open = try trial.certificates.encryptedKey(of: client, passphrase: "")
            let box = try trial.certificates.pkcs12(client, passphrase: "open sesame")
            func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }
            let identities: [Network.ClientIdentity] = try [
                .init(.pemFiles(certificateChain: chain, privateKey: key)),
                .init(.pem(certificateChain: bytes(chain), privateKey: bytes(key))),
                .init(.pemFiles(certificateChain: chain, privateKey: encrypted), passphrase: "open sesame"),
                .init(
                    .pem(certificateChain: bytes(chain), privateKey: bytes(encrypted)),
                    passphrase: "open sesame"
                ),
                .init(.pkcs12File(path: box), passphrase: "open sesame"),
                .init(.pkcs12(bytes(box)), passphrase: "open sesame"),
                // Encrypted with an empty passphrase.
                .init(.pemFiles(certificateChain: chain, privateKey: open)),
                .init(.pem(certificateChain: bytes(chain), privateKey: bytes(open)), passphrase: ""),
            ]
            for identity in identities {
                let server = try trial.server { $0.clientCertificate = .required }
                let knownClient = try trial.client(nil) { $0.tls.clientIdentity = identity }
                _ = try await knownClient.success(trial.request(server.url()))
                let subject = server.connections[0].tls?.clientCertificateSubject
                try expectEqual(subject, "/CN=client", "the client's name, \(identity)")
                _ = try await trial.client(nil).breakdown(trial.request(server.url()))
            }
        },
        ConformanceCheck("Two clients never share a connection", needs: needsIdentities) { subject in
            let trial = try PinnedTrial(subject)
            let server = try trial.server { $0.clientCertificate = .requested }
            let other = trial.certificates.rotatedServer
            let identities = try [
                Network.ClientIdentity.test, nil,
                .init(.pemFiles(certificateChain: other.certificateChainFile, privateKey: other.keyFile)),
            ]
            let clients = try identities.map { identity in try trial.client(nil) { $0.tls.clientIdentity = identity } }
            for _ in 1...2 {
                for client in clients { _ = try await client.success(trial.request(server.url())) }
            }
            let subjects = server.connections.map { $0.tls?.clientCertificateSubject }
            try expectEqual(subjects, ["/CN=client", nil, "/CN=localhost"], "the clients' names")
        },
        ConformanceCheck("An unusable identity is refused with the configuration", needs: needsIdentities) {
            subject in
            let trial = try PinnedTrial(subject)
            let (client, other) = (trial.certificates.client, trial.certificates.server)
            let (chain, key) = (client.certificateChainFile, client.keyFile)
            let encrypted = try trial.certificates.encryptedKey(of: client, passphrase: "right")
            let box = try trial.certificates.pkcs12(client, passphrase: "right")
            func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }
            let damaged = Data("-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n".utf8)
            let locked = Data(
                """
                -----BEGIN CERTIFICATE-----
                Proc-Type: 4,ENCRYPTED
                DEK-Info: AES-128-CBC,00000000000000000000000000000000

                AAAAAAAAAAAAAAAAAAAAAA==
                -----END CERTIFICATE-----

                """.utf8
            )
            let identities: [Network.ClientIdentity] = try [
                .init(.pemFiles(certificateChain: "/nonexistent", privateKey: key)),
                .init(.pemFiles(certificateChain: chain, privateKey: "/nonexistent")),
                .init(.pemFiles(certificateChain: key, privateKey: key)),
                .init(.pemFiles(certificateChain: chain, privateKey: chain)),
                .init(.pemFiles(certificateChain: chain, privateKey: other.keyFile)),
                .init(.pemFiles(certificateChain: chain, privateKey: encrypted)),
                .init(.pemFiles(certificateChain: chain, privateKey: encrypted), passphrase: "wrong"),
                .init(.pem(certificateChain: Data(), privateKey: Data())),
                .init(.pem(certificateChain: bytes(chain) + damaged, privateKey: bytes(key))),
                .init(.pem(certificateChain: bytes(chain) + locked, privateKey: bytes(key))),
                .init(.pem(certificateChain: locked + bytes(chain), privateKey: bytes(key))),
                .init(.pkcs12(Data())), .init(.pkcs12File(path: chain)),
                .init(.pkcs12File(path: box)), .init(.pkcs12File(path: box), passphrase: "wrong"),
            ]
            for identity in identities {
                do {
                    _ = try trial.client(nil) { $0.tls.clientIdentity = identity }
                    throw ConformanceFailure("A stack was made with \(identity)")
                } catch let error as Network.ConfigurationError {
                    guard case .invalid(let reason) = error else { throw error }
                    try expect(!reason.contains("PRIVATE") && !reason.contains("wrong\""), "The reason is \(reason)")
                }
            }
        },
        ConformanceCheck(
            "TLS versions have a minimum and a maximum",
            needs: [.network, .customTrustRoots, .tlsVersions]
        ) { subject in
            let trial = try PinnedTrial(subject)
            let old = try trial.server { $0.maximumTLSVersion = .v12 }
            _ = try await trial.client(nil).success(trial.request(old.url()))
            let strict = try trial.client(nil) { $0.tls.minimumVersion = .v1_3 }
            _ = try await strict.breakdown(trial.request(old.url()))
            try expectEqual(old.requests.count, 1, "requests to the old server")
            let new = try trial.server()
            _ = try await strict.success(trial.request(new.url()))
            let modest = try trial.client(nil) { $0.tls.maximumVersion = .v1_2 }
            _ = try await modest.success(trial.request(new.url()))
            try expectEqual(new.connections.map { $0.tls?.version }, ["TLSv1.3", "TLSv1.2"], "the versions")
            do {
                _ = try trial.client(nil) { ($0.tls.minimumVersion, $0.tls.maximumVersion) = (.v1_3, .v1_2) }
                throw ConformanceFailure("A maximum version below the minimum was accepted")
            } catch is Network.ConfigurationError {}
        },
        ConformanceCheck(
            "Verification can be disabled for tests",
            needs: [.network, .customTrustRoots, .unverifiedTLS]
        ) { subject in
            let trial = try PinnedTrial(subject)
            let certificates = trial.certificates
            for identity in [certificates.untrusted, certificates.expired, certificates.wrongHost] {
                let server = try trial.server(identity)
                let client = try trial.client(nil) { $0.tls.verification = .disabledForTesting }
                _ = try await client.success(trial.request(server.url()))
            }
        },
    ]

    private static let needsIdentities: Set<HTTP.Capability> = [.network, .customTrustRoots, .clientCertificates]
}
