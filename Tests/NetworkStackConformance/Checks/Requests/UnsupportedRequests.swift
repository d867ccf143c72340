import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// A stack refuses requests that its capabilities exclude, with the same reason, and accepts all others.
    static let unsupportedRequests: [ConformanceCheck] = [
        ConformanceCheck("GET with a body arrives, or is refused as unsupported") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let request = try HTTP.Request(url: peer.url("/refused"), body: .bytes(Data("hello".utf8)))
            if subject.capabilities.supports(.bodyWithAnyMethod) {
                _ = try await client.success(request)
                try expectEqual(peer.onlyRequest().method, "GET", "the method")
                try expectEqual(peer.onlyRequest().text, "hello", "the body")
            } else {
                try await isUnsupported(.bodyWithAnyMethod, subject) { try await client.refusal(request) }
                try await peer.expectNothingBefore(client)
            }
        },
        ConformanceCheck("A request's Host arrives, or is refused as unsupported") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let request = try HTTP.Request(url: peer.url("/refused"), headers: [.host: "own.test"])
            if subject.capabilities.supports(.hostHeader) {
                _ = try await client.success(request)
                try expectEqual(peer.onlyRequest().values(of: "Host"), ["own.test"], "Host")
            } else {
                try await isUnsupported(.hostHeader, subject) { try await client.refusal(request) }
                try await peer.expectNothingBefore(client)
            }
        },
        ConformanceCheck("A lower-case method arrives unchanged, or is refused as unsupported") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let methods: [HTTP.Method] = ["get", "head", "post", "Put", "deletE"]
            for method in methods {
                let request = try HTTP.Request(method: method, url: peer.url("/refused"))
                guard !subject.capabilities.supports(.caseSensitiveMethods) else {
                    _ = try await client.success(request)
                    continue
                }
                try await isUnsupported(.caseSensitiveMethods, subject) {
                    guard !subject.holds(request) else { return try await client.refusal(request) }
                    let error = try await client.failure(request)
                    guard case .noRequest(let reason as Network.ConfigurationError) = error else {
                        throw ConformanceFailure("Expected noRequest, saw \(error)")
                    }
                    throw reason
                }
            }
            guard subject.capabilities.supports(.caseSensitiveMethods) else {
                return try await peer.expectNothingBefore(client)
            }
            try expectEqual(peer.requests().map(\.method), methods.map(\.rawValue), "the methods")
        },
        ConformanceCheck("An IPv6 address is reached, or refused as unsupported", needs: [.network]) { subject in
            var options = ScriptedServer.Options()
            options.loopback = .v6
            let server = try ScriptedServer.responding(options) { _ in .ok("done") }
            let client = try subject.client()
            if subject.capabilities.supports(.ipv6Literals) {
                try expectBytes(await client.get(server.url()).value, "done".utf8)
                try expectEqual(server.requests.first?.values(of: "Host"), [server.authority], "Host")
            } else {
                try await isUnsupported(.ipv6Literals, subject) {
                    try await client.refusal(HTTP.Request(url: server.url()))
                }
                try expectEqual(server.snapshot.accepted, 0, "connections")
            }
        },
        option("A connect timeout", .connectTimeout) { $0.timeouts.connect = .seconds(20) },
        option("A queue timeout", .queueTimeout) { $0.timeouts.queue = .seconds(20) },
        option("An as-is path", .pathAsIs) { $0.pathAsIs = true },
        option("An undecoded body", .disablingDecompression) { $0.decompresses = false },
        option("A body in unknown codings", .unknownCodings) { $0.passesUnknownCodings = true },
        option("A wait for 100 Continue", .expectContinue) { $0.expectContinue = .seconds(1) },
        option("A decompression ratio", .decompressionRatio) { $0.limits.decompressionRatio = 1000 },
        option("A handler of informational responses", .informationalResponses) { $0.onInformational = { _ in } },
        option("The collection of server keys", .serverPins) { $0.collectsServerPins = true },
        ConformanceCheck("A request that awaits trailers is accepted or refused as unsupported") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let request = try HTTP.Request(url: peer.url("/refused"), headers: [.te: "trailers"])
            if subject.capabilities.supports(.trailers) {
                _ = try await client.success(request)
            } else {
                try await isUnsupported(.trailers, subject) { try await client.refusal(request) }
                try await peer.expectNothingBefore(client)
            }
        },
        configuration("A limit of streams per connection", .streamsPerConnection) {
            $0.connections.streamsPerConnection = 1
        },
        configuration("A minimum TLS version", .tlsVersions) { $0.tls.minimumVersion = .v1_3 },
        configuration("Disabled verification", .unverifiedTLS) { $0.tls.verification = .disabledForTesting },
        configuration("A lifetime of connections", .connectionLifetime) { $0.connections.lifetime = .seconds(60) },
        configuration("A proxy", .proxies) { try? $0.use("http://127.0.0.1:1", except: "*") },
        configuration("A host override", .hostOverrides) {
            $0.addresses.hostOverrides = [
                try? Network.Configuration.Addresses.HostOverride("nowhere.test:80:127.0.0.1")
            ].compactMap(\.self)
        },
        configuration("A family of addresses", .addressFamily) { $0.addresses.family = .ipv4 },
        configuration("A local address", .localAddress) { $0.addresses.localAddress = "127.0.0.1" },
        configuration("A cache age of addresses", .dnsCacheAge) { $0.addresses.dnsCacheAge = .seconds(5) },
        ConformanceCheck("A Unix socket is refused if it is unsupported") { subject in
            if subject.capabilities.supports(.unixSockets) { return }
            let peer = try subject.serve { _ in .ok("done") }
            try await isUnsupported(.unixSockets, subject) {
                try await subject.client { $0.addresses.unixSocket = .path("/nowhere") }
                    .refusal(HTTP.Request(url: peer.url("/")))
            }
        },
        configuration("A total connection limit", .totalConnectionLimit) { $0.connections.total = 4 },
        configuration("An age limit for idle connections", .idleConnectionAge) {
            $0.connections.idleAge = .seconds(30)
        },
        configuration("A file of trust roots", .customTrustRoots) { configuration in
            guard let certificates = try? TestCertificates.shared() else { return }
            configuration.tls.trustRoots = .file(path: certificates.caFile)
        },
        ConformanceCheck("HTTP/2 by prior knowledge is refused if it is unsupported") { subject in
            if subject.capabilities.supports(.http2PriorKnowledge) { return }
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            var options = HTTP.Options()
            options.version = .http2PriorKnowledge
            try await isUnsupported(.http2PriorKnowledge, subject) {
                try await client.refusal(HTTP.Request(url: peer.url("/refused")), options: options)
            }
            try await peer.expectNothingBefore(client)
        },
        ConformanceCheck("A stack has exactly the capabilities it was described with") { subject in
            let claimed = subject.capabilities.unsupported.keys.filter { $0 != .network }
            try expectEqual(
                Set(try subject.stack().capabilities.unsupported.keys),
                Set(claimed),
                "the unsupported capabilities"
            )
            for (capability, reason) in subject.capabilities.unsupported where capability != .network {
                try expect(reason.hasSuffix("."), "The reason against \(capability) is no sentence: \(reason)")
            }
        },
    ]

    /// An option of a resource: it is refused before anything is sent, or the fetch succeeds.
    private static func option(
        _ what: String,
        _ capability: HTTP.Capability,
        _ change: @escaping @Sendable (inout HTTP.Options) -> Void
    ) -> ConformanceCheck {
        ConformanceCheck("\(what) is accepted or refused as unsupported everywhere") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            var options = HTTP.Options()
            change(&options)
            let request = try HTTP.Request(url: peer.url("/refused"))
            if subject.capabilities.supports(capability) {
                _ = try await client.success(request, options: options)
                _ = try await subject.client { change(&$0.options) }.success(request)
            } else {
                try await isUnsupported(capability, subject) { try await client.refusal(request, options: options) }
                try await isUnsupported(capability, subject) {
                    try await subject.client { change(&$0.options) }.refusal(request)
                }
                try await peer.expectNothingBefore(client)
            }
        }
    }

    /// An option of a stack: making the stack is refused, or the stack works.
    private static func configuration(
        _ what: String,
        _ capability: HTTP.Capability,
        _ change: @escaping @Sendable (inout Network.Configuration) -> Void
    ) -> ConformanceCheck {
        ConformanceCheck("\(what) is accepted or refused as unsupported") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            if subject.capabilities.supports(capability) {
                _ = try await subject.client(change).get(peer.url("/"))
            } else {
                try await isUnsupported(capability, subject) {
                    try await subject.client(change).refusal(HTTP.Request(url: peer.url("/")))
                }
                try expectEqual(peer.requests().count, 0, "requests")
            }
        }
    }

    /// Expects the refusal, answered or thrown, to name the capability and the stack's reason.
    private static func isUnsupported(
        _ capability: HTTP.Capability,
        _ subject: ConformanceSubject,
        _ refuse: () async throws -> BoundedClient.FetchError
    ) async throws {
        let seen: String?
        do {
            let error = try await refuse()
            seen = if case .unsupported(capability, let reason) = error { reason } else { nil }
        } catch Network.ConfigurationError.unsupported(capability, let reason) {
            seen = reason
        }
        guard let seen else { throw ConformanceFailure("expected \(capability) to be unsupported") }
        try expectEqual(seen, subject.capabilities.reason(against: capability) ?? "", "the reason")
    }
}
