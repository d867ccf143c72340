import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The policy is selected before a socket is opened, for every request and every redirect.
    static let pinnedHosts: [ConformanceCheck] = [
        ConformanceCheck("No spelling of a host escapes its policy", needs: PinnedTrial.needs) { subject in
            let trial = try PinnedTrial(subject)
            let numbers = ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.01", "127%2e0.0.1", "%30x7F.1"]
            for (policy, spellings) in [
                ("127.0.0.1", numbers), ("a.test", ["a.test", "A.TEST", "a.test.", "%41%2etes%74", "a.test%2e"]),
            ] {
                for host in spellings {
                    func client(_ pin: PinnedCertificate, of server: ScriptedServer) throws -> BoundedClient {
                        let everyName = try server.everyName()
                        return try trial.client(trial.trust(trial.pins(pin), for: policy, notPinned: true)) {
                            $0.addresses.hostOverrides = policy == "a.test" ? [everyName] : []
                        }
                    }
                    let server = try trial.server()
                    _ = try await client(.leaf, of: server).success(trial.request(server.url(host: host)))
                    let impostor = try trial.server()
                    try await client(.otherLeaf, of: impostor).mismatch(trial.request(impostor.url(host: host)))
                    try await impostor.expectNothingReceived()
                }
            }
            let wrong = try trial.client(trial.trust(trial.pins(.otherLeaf), notPinned: true))
            for host in ["[::ffff:127.0.0.1]", "127.0.0.1..", "127.0.0.%2531", "127.0.0.1%00", "127.0.0.1%2f.a.test"] {
                let impostor = try trial.server()
                // An invalid host name is refused even earlier.
                let request: HTTP.Request
                do { request = try trial.request(impostor.url(host: host)) } catch is HTTP.InvalidValue { continue }
                _ = try await wrong.refusal(request)
                try await impostor.expectNothingReceived()
            }
        },
        ConformanceCheck("No spelling of an IPv6 address escapes its policy", needs: PinnedTrial.needs) { subject in
            let trial = try PinnedTrial(subject)
            let right = try trial.client(trial.trust(trial.pins(.leaf), for: "::1"))
            let wrong = try trial.client(trial.trust(trial.pins(.otherLeaf), for: "[::1]", notPinned: true))
            for host in ["[::1]", "[0:0:0:0:0:0:0:1]", "[0::0001]"] {
                let server = try trial.server { $0.loopback = .v6 }
                _ = try await right.success(trial.request(server.url(host: host)))
                let impostor = try trial.server { $0.loopback = .v6 }
                try await wrong.mismatch(trial.request(impostor.url(host: host)))
                try await impostor.expectNothingReceived()
            }
        },
        ConformanceCheck("A host without a policy is reached only if allowed", needs: PinnedTrial.needs) {
            subject in
            let trial = try PinnedTrial(subject)
            let server = try trial.server()
            let allowing = try trial.client(trial.trust(trial.pins(.leaf), for: "a.test", notPinned: true))
            _ = try await allowing.success(trial.request(server.url()))
            let strict = try trial.client(trial.trust(trial.pins(.leaf), for: "a.test"))
            let untouched = try trial.server()
            let error = try await strict.distrust(trial.request(untouched.url()))
            try expectEqual(error, .domainNotPinned(host: "127.0.0.1"), "the refusal")
            try expectEqual(untouched.snapshot.accepted, 0, "connections")
        },
        ConformanceCheck("A pinned host is never contacted in cleartext", needs: PinnedTrial.needs) { subject in
            let trial = try PinnedTrial(subject)
            let server = try ScriptedServer.responding { _ in .ok("secret") }
            let client = try trial.client(trial.trust(trial.pins(.leaf), notPinned: true))
            let error = try await client.distrust(trial.request(server.url()))
            try expectEqual(error, .insecureScheme(host: "127.0.0.1"), "the refusal")
            try expectEqual(server.snapshot.accepted, 0, "connections")
            _ = try await client.success(trial.request(server.url(host: "localhost")))
        },
        ConformanceCheck("A redirect to a host without a policy opens no connection", needs: PinnedTrial.needs) {
            let (error, target) = try await redirect($0, toHostWith: nil)
            try expectEqual(error, .domainNotPinned(host: "localhost"), "the refusal")
            try expectEqual(target.snapshot.accepted, 0, "connections")
        },
        ConformanceCheck("A redirect to a host with another policy must match that policy", needs: PinnedTrial.needs) {
            subject in
            // The keys that are right for the first host are wrong for the second.
            let (error, impostor) = try await redirect(subject, toHostWith: .otherLeaf)
            guard case .pinVerificationFailed("localhost", .pinnedHashNotFound) = error else {
                throw ConformanceFailure("saw \(error)")
            }
            try await impostor.expectNothingReceived()
            let trial = try PinnedTrial(subject)
            let target = try trial.server()
            let server = try ScriptedServer.responding(.init(tls: trial.certificates.server)) { _ in
                .redirect(to: target.url(host: "localhost"))
            }
            let policies = try ["127.0.0.1", "localhost"].map {
                try PinningPolicy(domainName: $0, pinnedHashes: trial.pins(.leaf), enforceBackupPin: false)
            }
            let client = try trial.client(.init(pinningPolicies: policies))
            try expectBytes(await client.get(server.url()).value, "secret".utf8)
        },
        ConformanceCheck(
            "A cleartext redirect to a pinned host is always refused",
            needs: PinnedTrial.needs
        ) {
            subject in
            let trial = try PinnedTrial(subject)
            let target = try ScriptedServer.responding { _ in .ok("secret") }
            let server = try ScriptedServer.responding(.init(tls: trial.certificates.server)) { _ in
                .redirect(to: target.url())
            }
            let client = try trial.client(trial.trust(trial.pins(.leaf))) { $0.options.redirects.allowsInsecure = true }
            let error = try await client.distrust(HTTP.Request(url: server.url()))
            try expectEqual(error, .insecureScheme(host: "127.0.0.1"), "the refusal")
            try expectEqual(target.snapshot.accepted, 0, "connections")
        },
    ]

    /// Follows a redirect from one pinned host to another, which must fail there.
    private static func redirect(
        _ subject: ConformanceSubject,
        toHostWith certificate: PinnedCertificate?
    ) async throws -> (ServerTrustError, target: ScriptedServer) {
        let trial = try PinnedTrial(subject)
        let target = try trial.server()
        let server = try ScriptedServer.responding(.init(tls: trial.certificates.server)) { _ in
            .redirect(to: target.url(host: "localhost"))
        }
        var policies = try [
            PinningPolicy(domainName: "127.0.0.1", pinnedHashes: trial.pins(.leaf), enforceBackupPin: false)
        ]
        if let certificate {
            let pins = try trial.pins(certificate)
            policies.append(try PinningPolicy(domainName: "localhost", pinnedHashes: pins, enforceBackupPin: false))
        }
        let client = try trial.client(.init(pinningPolicies: policies))
        let error = try await client.distrust(HTTP.Request(url: server.url()))
        try expectEqual(server.requests.count, 1, "requests to the first host")
        return (error, target)
    }

    /// Only connections that would be refused are reported.
    static let pinnedReports: [ConformanceCheck] = [
        ConformanceCheck("A report-only policy passes every server and reports mismatches", needs: PinnedTrial.needs) {
            subject in
            let trial = try PinnedTrial(subject)
            let server = try trial.server()
            for (pins, host, isReported) in [
                (try trial.pins(.intermediate), "127.0.0.1", false), (try trial.pins(.otherLeaf), "127.0.0.1", true),
                (try trial.pins(.leaf), "a.test", true),
            ] {
                let reports = Lock<[ServerTrustReport]>([])
                let client = try trial.client(trial.trust(pins, for: host, mode: .reportOnly)) {
                    $0.serverTrustReporter = { report in reports.withLock { $0.append(report) } }
                }
                for _ in 1...2 { _ = try await client.success(trial.request(server.url())) }
                let count = isReported ? 2 : 0
                try await eventually("\(count) reports") { reports.withLock { $0.count } == count }
                try await expectNoMore(reports)
                guard let report = reports.withLock({ $0.last }) else { continue }
                try expectEqual("\(report.origin)", "https://127.0.0.1:\(server.port)", "the origin")
                if host == "a.test" {
                    try expectEqual(report.error, .domainNotPinned(host: "127.0.0.1"), "the report")
                } else if case .pinVerificationFailed(_, .pinnedHashNotFound(let chain)) = report.error {
                    try expectEqual(chain.count, 3, "reported keys")
                } else {
                    throw ConformanceFailure("reported \(report.error)")
                }
            }
        },
        ConformanceCheck("A report-only policy passes no untrusted server", needs: PinnedTrial.needs) {
            subject in
            let trial = try PinnedTrial(subject)
            let identity = trial.certificates.untrusted
            let server = try trial.server(identity)
            let client = try trial.client(trial.trust([identity.publicKeyPins()[0]], mode: .reportOnly))
            _ = try await client.breakdown(trial.request(server.url()))
            try await server.expectNothingReceived(handshakes: true)
        },
        ConformanceCheck("An allowed expired policy means ordinary trust with a report", needs: PinnedTrial.needs) {
            subject in
            let trial = try PinnedTrial(subject)
            let server = try trial.server()
            let policy = try PinningPolicy(
                domainName: "127.0.0.1",
                expirationDate: .distantPast,
                pinnedHashes: trial.pins(.otherLeaf),
                enforceBackupPin: false
            )
            let reports = Lock<[ServerTrustReport]>([])
            let trust = try ServerTrustConfiguration(pinningPolicies: [policy], allowExpiredDomainPolicies: true)
            let client = try trial.client(trust) {
                $0.serverTrustReporter = { report in reports.withLock { $0.append(report) } }
            }
            _ = try await client.success(trial.request(server.url()))
            try await eventually("a report") { reports.withLock { $0.count } == 1 }
            let error = reports.withLock { $0[0].error }
            guard case .domainPolicyExpired("127.0.0.1", "127.0.0.1", .distantPast) = error else {
                throw ConformanceFailure("reported \(error)")
            }
        },
        ConformanceCheck("A fetch from an untrusted server is never retried", needs: PinnedTrial.needs) { subject in
            let trial = try PinnedTrial(subject)
            let impostor = try trial.server()
            let client = try trial.client(trial.trust(trial.pins(.otherLeaf))) {
                $0.interceptors = [AlwaysRetry()]
            }
            try await client.mismatch(trial.request(impostor.url()))
            try await impostor.expectNothingReceived()
            try expectEqual(impostor.snapshot.accepted, 1, "connections")
        },
    ]
}

/// Votes for a retry after any failure.
private struct AlwaysRetry: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    func interceptFailedTask(
        withIdentifier identifier: Int,
        request: HTTP.Request?,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action { .retry }
}
