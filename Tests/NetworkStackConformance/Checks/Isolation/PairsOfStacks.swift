import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension Pair {
    /// A pair for each option of a stack: two stacks in one process, or two hosts on one stack.
    static let ofStacks: [Pair] = messagesOfStacks + trustOfStacks + placesOfStacks + ofHosts

    private static let messagesOfStacks = [
        ofStack("another stack's options", ["options"]) { configuration, _ in configuration.options.limits.body = 4 },
        ofStack("another stack's fields", ["headers"]) { configuration, _ in configuration.headers = ["X-Stack": "s"] },
        ofStack("another stack's user agent", ["userAgent"], needs: [.network]) { configuration, _ in
            configuration.userAgent = "Pair/1"
        },
        ofStack("another stack's Accept", ["sendsDefaultAccept"], needs: [.network]) { configuration, _ in
            configuration.sendsDefaultAccept = false
        },
        ofStack("another stack's interceptors", ["interceptors"]) { configuration, _ in
            configuration.interceptors = [HeaderInjector(["X-Injected": "i"])]
        },
        ofStack("a cookie jar", ["cookies"]) { configuration, _ in configuration.cookies = HTTP.CookieJar() },
    ]

    private static let needsTrust: Set<HTTP.Capability> = [.network, .customTrustRoots]

    private static let trustOfStacks = [
        ofStack("another stack's roots", ["tls.trustRoots"], .secure, needs: needsTrust) { configuration, _ in
            configuration.tls.trustRoots = .file(path: try TestCertificates.shared().untrustedCAFile)
        },
        ofStack(
            "verification",
            ["tls.verification"],
            .secure,
            needs: needsTrust.union([.unverifiedTLS]),
            both: { configuration, _ in configuration.tls.trustRoots = .system },
            set: { configuration, _ in configuration.tls.verification = .disabledForTesting }
        ),
        ofStack(
            "a client certificate",
            ["tls.clientIdentity"],
            .secure,
            needs: needsTrust.union([.clientCertificates])
        ) { configuration, _ in
            let client = try TestCertificates.shared().client
            configuration.tls.clientIdentity = .init(
                .pemFiles(certificateChain: client.certificateChainFile, privateKey: client.keyFile)
            )
        },
        ofStack(
            "a minimum TLS version",
            ["tls.minimumVersion"],
            .secure,
            needs: needsTrust.union([.tlsVersions]),
            both: { configuration, _ in configuration.tls.maximumVersion = .v1_2 },
            set: { configuration, _ in
                (configuration.tls.minimumVersion, configuration.tls.maximumVersion) = (.v1_3, .v1_3)
            }
        ),
        ofStack(
            "a maximum TLS version",
            ["tls.maximumVersion"],
            .secure,
            needs: needsTrust.union([.tlsVersions])
        ) { configuration, _ in configuration.tls.maximumVersion = .v1_2 },
        ofStack(
            "another stack's pins",
            ["serverTrust"],
            .secure,
            needs: needsTrust.union([.publicKeyPinning])
        ) { configuration, _ in configuration.serverTrust = try trust("127.0.0.1", .chain) },
    ]

    private static let placesOfStacks = [
        ofStack("a proxy", ["proxies.http"], needs: [.network, .proxies], situations: direct) { configuration, place in
            configuration.proxies.http = try .init("http://\(place.authority(1))")
        },
        ofStack(
            "a proxy for https",
            ["proxies.https"],
            .secure,
            needs: needsTrust.union([.proxies]),
            situations: direct
        ) { configuration, _ in configuration.proxies.https = try .init("http://127.0.0.1:\(closedPort)") },
        ofStack("IPv6 alone", ["addresses.family"], needs: [.network, .addressFamily], host: "localhost") {
            configuration,
            _ in
            configuration.addresses.family = .ipv6
        },
        ofStack("a host override", ["addresses.hostOverrides"], needs: [.network, .hostOverrides], host: "localhost") {
            configuration,
            place in
            configuration.addresses.hostOverrides = try place.ports.map {
                try .init(host: "localhost", port: $0, addresses: ["127.0.0.3"])
            }
        },
        ofStack("a reroute", ["addresses.reroutes"], needs: [.network, .hostOverrides]) {
            configuration,
            place in
            configuration.addresses.reroutes = [
                try .init(host: nil, port: place.ports[0], toHost: nil, toPort: closedPort),
                try .init(host: nil, port: place.ports[1], toHost: nil, toPort: closedPort),
            ]
        },
        ofStack("a Unix socket", ["addresses.unixSocket"], needs: [.network, .unixSockets]) { configuration, _ in
            configuration.addresses.unixSocket = .path("/nonexistent/pair.sock")
        },
        ofStack("an interface", ["addresses.interface"], needs: [.network, .localAddress]) { configuration, _ in
            configuration.addresses.interface = "pair0"
        },
        ofStack("a local address", ["addresses.localAddress"], needs: [.network, .localAddress]) { configuration, _ in
            configuration.addresses.localAddress = "192.0.2.1"
        },
        ofStack("local ports", ["addresses.localPorts"], needs: [.network, .localAddress]) { configuration, place in
            configuration.addresses.localPorts = place.ports[0]...place.ports[0]
        },
    ]

    private static let direct: Set<PairSituation> = [.sameConnection, .redirected, .retried]
    /// A port without a listener: that of a service of 1983.
    private static let closedPort = 1

    /// Two hosts of one stack; the configuration applies to one of them.
    private static let ofHosts = [
        Pair(
            name: "a pinned leaf of one host",
            needs: needsTrust.union([.publicKeyPinning]),
            servers: .secure,
            sharesConnections: false,
            configure: { configuration, _ in configuration.serverTrust = try trust("localhost", .leaf) },
            set: { fetch, _ in fetch.host = "localhost" }
        ),
        Pair(
            name: "a pinned chain of one host",
            needs: needsTrust.union([.publicKeyPinning]),
            servers: .secure,
            sharesConnections: false,
            configure: { configuration, _ in configuration.serverTrust = try trust("localhost", .chain) },
            set: { fetch, _ in fetch.host = "localhost" }
        ),
        Pair(
            name: "a proxy for one host",
            covers: ["configuration.proxies.exceptions"],
            needs: [.network, .proxies],
            situations: direct,
            sharesConnections: false,
            configure: { configuration, place in
                try configuration.use("http://user:word@\(place.authority(1))", except: "localhost")
            },
            set: { fetch, _ in fetch.host = "localhost" }
        ),
        Pair(
            name: "an HSTS policy of one host",
            covers: ["configuration.strictTransport"],
            needs: [.network, .customTrustRoots],
            situations: [.sameConnection, .otherOrigin, .retried],
            servers: .secure,
            comparesRequests: false,
            sharesConnections: false,
            configure: { configuration, _ in
                let hosts = HTTP.StrictTransportHosts()
                hosts.note(.init(name: "localhost", expires: .distantFuture, includesSubdomains: false))
                configuration.strictTransport = hosts
            },
            base: { fetch, _ in fetch.isPlain = true },
            set: { fetch, _ in fetch.host = "localhost" }
        ),
    ]

    /// Pins the first server's key.
    private static func trust(_ host: String, _ scope: PinningPolicy.Scope) throws -> ServerTrustConfiguration {
        let policy = try PinningPolicy(
            domainName: host,
            pinnedHashes: [try TestCertificates.shared().server.publicKeyPins()[0]],
            enforceBackupPin: false,
            scope: scope
        )
        return try ServerTrustConfiguration(pinningPolicies: [policy], allowNotPinnedDomains: true)
    }

    private static func ofStack(
        _ name: String,
        _ covers: [String],
        _ servers: Servers = .plain,
        needs: Set<HTTP.Capability> = [],
        situations: Set<PairSituation> = PairSituation.usual,
        host: String? = nil,
        both: @escaping @Sendable (inout Network.Configuration, PairPlace) throws -> Void = { _, _ in },
        set: @escaping @Sendable (inout Network.Configuration, PairPlace) throws -> Void
    ) -> Pair {
        Pair(
            name: name,
            covers: covers.map { "configuration.\($0)" },
            needs: needs,
            situations: situations,
            servers: servers,
            configure: both,
            configureOne: set,
            base: { fetch, _ in fetch.host = host },
            answer: { _, _, _ in .ok("of a pair", headers: [("Set-Cookie", "pair=1; Path=/")]) }
        )
    }
}
