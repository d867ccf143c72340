import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsAlerts: Set<HTTP.Capability> = [
        .network, .customTrustRoots, .clientCertificates, .tlsFailureDetail,
    ]

    /// Fatal alerts. Under TLS 1.3 the client's handshake is over when the server checks its certificate, so they arrive while a
    /// response is awaited (RFC 8446 section 4.4.2.4).
    static let tlsAlerts: [ConformanceCheck] = [
        ("a missing certificate", ScriptedServer.Options.ClientCertificate.required, "certificate_required"),
        ("a wrong certificate", .refused, "unknown_ca"),
    ].flatMap { name, wanted, alert in
        [ScriptedServer.Options.TLSVersion.v12, .v13].flatMap { version in
            [[], ["h2"]].map { protocols in
                let (over, number) = (protocols.isEmpty ? "HTTP/1.1" : "HTTP/2", version == .v12 ? "1.2" : "1.3")
                return ConformanceCheck(
                    "A TLS \(number) alert for \(name) ends an \(over) fetch",
                    needs: protocols.isEmpty ? needsAlerts : needsAlerts.union([.http2])
                ) { subject in
                    // TLS 1.2 has no alert for a missing certificate.
                    let text = version == .v12 && wanted == .required ? "handshake_failure" : alert
                    for hasBody in [false, true] {
                        try await endsOnce(subject, wanted, version, protocols, hasBody: hasBody, text)
                    }
                }
            }
        }
    }

    private static func endsOnce(
        _ subject: ConformanceSubject,
        _ wanted: ScriptedServer.Options.ClientCertificate,
        _ version: ScriptedServer.Options.TLSVersion,
        _ protocols: [String],
        hasBody: Bool,
        _ alert: String
    ) async throws {
        let trial = try PinnedTrial(subject)
        let server = try trial.server {
            ($0.clientCertificate, $0.maximumTLSVersion, $0.applicationProtocols) = (wanted, version, protocols)
        }
        let client = try trial.client(nil) {
            if wanted == .refused { $0.tls.clientIdentity = try .test }
            $0.interceptors = [HTTPRetryPolicy.maxRetries(3).whenTransient()]
        }
        // Sent while the alert is under way, it may meet a connection that is closed already.
        let body: HTTP.Body = hasBody ? .bytes(patternBytes(4 << 20)) : .none
        let request = try HTTP.Request(method: hasBody ? .PUT : .GET, url: server.url(), body: body)
        let error = try await client.breakdown(request)
        let kind = (error as? any HTTPTransportError)?.kind
        try expectEqual(kind, .tls, "the kind of \(error.map { "\($0)" } ?? "a bad response")")
        let text = error.map { "\($0)" } ?? ""
        try expect(text.lowercased().contains(alert), "the error does not name the alert \(alert): \(text)")
        try expectEqual(server.snapshot.accepted, 1, "handshakes")
    }
}
