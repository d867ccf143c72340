import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Servers that equal the pinned one except for its key.
    static let pinnedImpostors: [ConformanceCheck] = [
        ConformanceCheck(
            "A trusted impostor that presents the pinned certificates gets no request",
            needs: PinnedTrial.needs
        ) { subject in
            let trial = try PinnedTrial(subject)
            let certificates = trial.certificates
            let rogue = try certificates.identity(certificates.secondServer, presentingAlso: certificates.server)
            for certificate in [PinnedCertificate.leaf, .intermediate, .root] {
                for scope in certificate == .leaf ? PinningPolicy.Scope.allCases : [.chain] {
                    let client = try trial.client(trial.trust(trial.pins(certificate), scope: scope))
                    let server = try trial.server()
                    _ = try await client.success(trial.request(server.url()))
                    let impostor = try trial.server(rogue)
                    try await client.mismatch(trial.request(impostor.url()))
                    try await impostor.expectNothingReceived()
                }
            }
        },
        ConformanceCheck(
            "An impostor that only names the pinned issuer gets no request",
            needs: PinnedTrial.needs
        ) { subject in
            let trial = try PinnedTrial(subject)
            let client = try trial.client(trial.trust(trial.pins(.intermediate, .root)))
            let server = try trial.server()
            _ = try await client.success(trial.request(server.url()))
            let impostor = try trial.server(trial.certificates.forged)
            let result = try await client.unverified(trial.request(impostor.url()))
            try expect(result != nil && result != 0, "The verifier's number is \(result.map(String.init) ?? "none")")
            try await impostor.expectNothingReceived()
        },
        ConformanceCheck("The right key does not excuse a bad certificate", needs: PinnedTrial.needs) { subject in
            let trial = try PinnedTrial(subject)
            let certificates = trial.certificates
            var numbers: Set<Int?> = []
            for identity in [certificates.expired, certificates.wrongHost, certificates.untrusted] {
                for scope in PinningPolicy.Scope.allCases {
                    let pin = try identity.publicKeyPins()[0]
                    let impostor = try trial.server(identity)
                    let client = try trial.client(trial.trust([pin], scope: scope))
                    numbers.insert(try await client.unverified(trial.request(impostor.url())))
                    try await impostor.expectNothingReceived()
                }
            }
            try expectEqual(numbers.subtracting([nil, 0, 1]).count, 3, "the verifier's reasons, in \(numbers)")
        },
        ConformanceCheck(
            "A client certificate is shown only to the pinned server",
            needs: PinnedTrial.needs.union([.clientCertificates])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let certificates = trial.certificates
            let identity = try Network.ClientIdentity.test
            let stuffed = try certificates.identity(certificates.secondServer, presentingAlso: certificates.server)
            for version in [ScriptedServer.Options.TLSVersion.v12, .v13] {
                for scope in PinningPolicy.Scope.allCases {
                    let pins = try trial.pins(.leaf)
                    let client = try trial.client(trial.trust(pins, scope: scope)) { $0.tls.clientIdentity = identity }
                    let server = try trial.server {
                        ($0.clientCertificate, $0.maximumTLSVersion) = (.required, version)
                    }
                    _ = try await client.success(trial.request(server.url()))
                    try expect(server.connections[0].isClientCertificateSeen, "The server saw no certificate")
                    for other in [stuffed, certificates.rotatedServer, certificates.forged] {
                        let impostor = try trial.server(other) {
                            ($0.clientCertificate, $0.maximumTLSVersion) = (.requested, version)
                        }
                        try await client.distrust(trial.request(impostor.url()))
                        try await impostor.expectNothingReceived()
                    }
                }
            }
        },
        ConformanceCheck(
            "A client certificate is shown to no server of another name",
            needs: PinnedTrial.needs.union([.clientCertificates])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let identity = try Network.ClientIdentity.test
            let impostor = try trial.server(trial.certificates.wrongHost) { $0.clientCertificate = .requested }
            for host in ["127.0.0.1", "localhost"] {
                let trust = try trial.trust(trial.pins(.intermediate), for: host)
                let client = try trial.client(trust) { $0.tls.clientIdentity = identity }
                _ = try await client.unverified(trial.request(impostor.url(host: host)))
            }
            try await impostor.expectNothingReceived()
        },
        ConformanceCheck(
            "A pinned host is refused even where verification is disabled",
            needs: PinnedTrial.needs.union([.unverifiedTLS])
        ) { subject in
            let trial = try PinnedTrial(subject)
            let certificates = trial.certificates
            let trust = try trial.trust(trial.pins(.leaf, .intermediate), notPinned: true)
            let client = try trial.client(trust) { $0.tls.verification = .disabledForTesting }
            for identity in [certificates.untrusted, certificates.forged, certificates.expired, certificates.server] {
                let server = try trial.server(identity)
                _ = try await client.success(trial.request(server.url(host: "localhost")))
                let impostor = try trial.server(identity)
                _ = try await client.unverified(trial.request(impostor.url()))
                try await impostor.expectNothingReceived()
            }
        },
    ]
}

extension Network.ClientIdentity {
    /// The client's identity of this run.
    static var test: Network.ClientIdentity {
        get throws {
            let client = try TestCertificates.shared().client
            return Network.ClientIdentity(
                .pemFiles(certificateChain: client.certificateChainFile, privateKey: client.keyFile)
            )
        }
    }
}
