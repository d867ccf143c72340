import CurlStack
import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension Lie {
    /// A lie for each capability, in the order of `Capability.swift`.
    static let all: [Lie] = ofProtocols + ofConnections + ofRequests + ofTLS + ofMessages + ofResponses

    private static let ofProtocols: [Lie] = [
        Lie(.network, "Twenty fetches in a row use one connection") { try MockNetworkStack(configuration: $0) },
        .ignoringOption(.http2, "TLS negotiates HTTP/2 where the server offers it") { $0.version = .http1_1 },
        .ignoringOption(.http2PriorKnowledge, "HTTP/2 by prior knowledge works in cleartext") {
            $0.version = .automatic
        },
        Lie(.connectTimeout, "No other fetch is affected by a connect timeout") {
            $0.hidesConnections = true
            $0.hop = { try $0.changed(options: { $0.timeouts.connect = nil }) }
        },
        .ignoringOption(.queueTimeout, "No other fetch is affected by a queue timeout") { $0.timeouts.queue = nil },
    ]

    private static let ofConnections: [Lie] = [
        .ignoring(.totalConnectionLimit, "The limit over all hosts is respected and fully used") {
            $0.connections.total = nil
        },
        .ignoring(.idleConnectionAge, "A connection idle for longer than its age is not used") {
            $0.connections.idleAge = nil
        },
        .ignoring(.connectionLifetime, "A connection past its lifetime is not used for another fetch") {
            $0.connections.lifetime = nil
        },
        .ignoring(.streamsPerConnection, "Fetches beyond the stack's stream limit are queued") {
            $0.connections.streamsPerConnection = 100
        },
        Lie(.endedAttempts, "A cancel while connecting ends the attempt at once") {
            $0.ignoresCancels = true
        },
        .ofURLSession(.closesOnExec, "A child process inherits no descriptor of a fetch over TCP"),
        .ofURLSession(.keepAliveTimeouts, "A Keep-Alive timeout of zero ends the connection's use"),
        .ofURLSession(
            .idempotentRetriesOnly,
            "A POST is not repeated after its keep-alive connection died unanswered"
        ),
        Lie(.preconnection, "A preconnection opens the connection that the next fetch uses") { _ in },
        .ignoring(.proxies, "A proxy receives an http request in absolute form") { $0.proxies = .none },
        .ignoring(.unixSockets, "An abstract Unix socket is reached") { $0.addresses.unixSocket = nil },
        .ignoring(.hostOverrides, "A reroute applies only to the host and port it names") {
            $0.addresses.reroutes = []
        },
        .ignoring(.addressFamily, "No other fetch is affected by IPv6 alone") { $0.addresses.family = .any },
        .ignoring(.localAddress, "Connections come from the chosen local address") {
            $0.addresses.localAddress = nil
        },
        .ignoring(.dnsCacheAge, "A resolved address is cached for the configured time") {
            $0.addresses.dnsCacheAge = Network.Configuration().addresses.dnsCacheAge
        },
    ]

    private static let ofRequests: [Lie] = [
        .ignoringOption(.versionChoice, "HTTP/1.1 is used on request, whatever the server offers") {
            $0.version = .automatic
        },
        .sending(.caseSensitiveMethods, "A lower-case method arrives unchanged, or is refused as unsupported") {
            $0.method = .init(rawValue: $0.method.rawValue.uppercased())
        },
        .ignoringOption(.expectContinue, "A body waits for 100 Continue") { $0.expectContinue = nil },
        .ignoringOption(.decompressionRatio, "A body that exceeds the decompression ratio is refused") {
            $0.limits.decompressionRatio = nil
        },
    ]

    private static let ofTLS: [Lie] = [
        .ignoring(.customTrustRoots, "A server signed by a given authority is trusted") { $0.tls.trustRoots = .system },
        Lie(.publicKeyPinning, "A pin of the server's certificate admits its server and no other") {
            $0.hop = { try $0.changed(trust: .ordinary) }
        },
        Lie(.serverPins, "No other fetch is affected by the collection of server keys") {
            $0.hop = { try $0.changed(options: { $0.collectsServerPins = false }) }
        },
        .ignoring(.clientCertificates, "A client presents its certificate on request, from files or bytes") {
            $0.tls.clientIdentity = nil
        },
        .ignoring(.tlsVersions, "TLS versions have a minimum and a maximum") {
            ($0.tls.minimumVersion, $0.tls.maximumVersion) = (.v1_2, nil)
        },
        .ignoring(.unverifiedTLS, "Verification can be disabled for tests") { $0.tls.verification = .full },
        .ignoring(.alternativeNames, "A host named only in the certificate's subject gets no request") {
            $0.tls.acceptsCommonNames = true
        },
        Lie(.tlsFailureDetail, "Different certificate faults have different reasons") {
            $0.failure = { CurlError(code: $0.code, message: "TLS failed.", phase: $0.phase) }
        },
    ]

    private static let ofMessages: [Lie] = [
        .sending(.bodyWithAnyMethod, "GET with a body arrives, or is refused as unsupported") {
            if $0.method == .GET { $0.body = .none }
        },
        Lie(.streamedRequestBody, "A stream is made no faster than the server reads it") {
            $0.hop = { try $0.changed(source: $0.source.map(HoardedSource.init)) }
        },
        Lie(.trailers, "Trailers are delivered apart from the headers") { $0.dropsTrailers = true },
        .sending(.requestTrailers, "Trailers announced by the request are announced once") {
            guard case .stream(var stream) = $0.body else { return }
            stream.trailers = nil
            ($0.body, $0.headers[.trailer]) = (.stream(stream), nil)
        },
        Lie(.informationalResponses, "No other fetch is affected by a callback for informational responses") {
            $0.dropsInformational = true
        },
        .ignoringOption(.decompression, "A body in gzip is decoded") { $0.decompresses = false },
        .ignoringOption(.disablingDecompression, "No other fetch is affected by decompression") {
            $0.decompresses = true
        },
        .ignoringOption(.unknownCodings, "A body in an unknown coding passes if the options allow it") {
            $0.passesUnknownCodings = false
        },
        .ignoringOption(.pathAsIs, "An as-is path is sent unchanged") { $0.pathAsIs = false },
    ]

    private static let ofResponses: [Lie] = [
        Lie(.headerOrder, "Two Set-Cookie lines stay apart") {
            $0.head = { response in
                let lines = response.headers.map { ($0.name.rawValue.lowercased(), $0.value) }
                let joined = Dictionary(lines) { "\($0), \($1)" }.sorted { $0.key < $1.key }
                response.headers = HTTP.Headers(joined.map { .init(name: .init(rawValue: $0.key), value: $0.value) })
            }
        },
        .ofURLSession(.nonconformingHeads, "Lines that end in a bare line feed are read"),
        Lie(.phaseMetrics, "The metrics report phases, bytes and the connection") { $0.metrics = { $0 = .init() } },
        Lie(.connectionEvents, "A new connection reports each step, a reused one none") { $0.hidesConnections = true },
        .sending(.ipv6Literals, "An IPv6 address is reached, or refused as unsupported") {
            guard let url = try? HTTP.Request(url: $0.url.absoluteString.replacing("[::1]", with: "127.0.0.1")).url
            else { return }
            $0.url = url
        },
        Lie(.backPressure, "A slow reader slows the server down and loses nothing") { $0.ignoresBackPressure = true },
        .ignoringOption(.headLimit, "A head longer than its limit is refused") { $0.limits.head = .max },
        .sending(.hostHeader, "A request's Host arrives, or is refused as unsupported") { $0.headers[.host] = nil },
        .ignoringOption(.digestAuthentication, "No other fetch is affected by Digest credentials") {
            $0.digestCredentials = [:]
        },
        Lie(.strictReplies, "A body shorter than a Content-Length with a stray space fails") {
            $0.failure = { $0.kind == .truncated ? nil : $0 }
        },
    ]
}
