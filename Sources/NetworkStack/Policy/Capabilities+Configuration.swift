extension HTTP.Capabilities {
    /// Refuses a configuration that contradicts itself, or that asks for something that the stack cannot do. The initializer of
    /// a stack calls it before it uses the configuration.
    ///
    /// It covers the options (``require(for:)-(HTTP.Options)``), the connections, the proxies and addresses, TLS and the pinning
    /// policies. A limit of streams is accepted without ``HTTP/Capability/streamsPerConnection`` if the limits of connections keep
    /// it: where they count transfers, as those of ``HTTPQueuedTransport`` do.
    ///
    /// - Parameter configuration: The configuration.
    /// - Throws: ``Network/ConfigurationError/invalid(_:)`` if it contradicts itself,
    ///   ``Network/ConfigurationError/unsupported(_:reason:)`` for what the stack cannot do, and
    ///   ``Network/ConfigurationError/untrusted(_:)`` if it pins keys and the stack cannot pin any.
    public func require(for configuration: Network.Configuration) throws(Network.ConfigurationError) {
        do { try configuration.validate() } catch { throw .init(error) }
        try require(for: configuration.options)
        try requireConnections(of: configuration)
        let (connections, tls) = (configuration.connections, configuration.tls)
        if connections.total != nil { try require(.totalConnectionLimit) }
        // Libraries have 100 streams on a connection at most, unless the server allows more.
        let isKept = connections.streamsPerConnection >= min(connections.perHost, connections.total ?? .max, 100)
        if !isKept { try require(.streamsPerConnection) }
        if tls.trustRoots != .system { try require(.customTrustRoots) }
        if tls.clientIdentity != nil { try require(.clientCertificates) }
        if tls.minimumVersion != .v1_2 || tls.maximumVersion != nil { try require(.tlsVersions) }
        if tls.verification != .full { try require(.unverifiedTLS) }
        if configuration.serverTrust != nil, let reason = reason(against: .publicKeyPinning) {
            throw .untrusted(.pinningUnsupported(reason: reason))
        }
    }

    /// Refuses options that ask for something that the stack cannot do, whatever the request is.
    ///
    /// - Parameter options: The options of a configuration or of a hop.
    /// - Throws: ``Network/ConfigurationError/unsupported(_:reason:)``.
    public func require(for options: HTTP.Options) throws(Network.ConfigurationError) {
        if options.pathAsIs { try require(.pathAsIs) }
        if !options.decompresses { try require(.disablingDecompression) }
        if options.passesUnknownCodings { try require(.unknownCodings) }
        if options.collectsServerPins { try require(.serverPins) }
        if !options.digestCredentials.isEmpty { try require(.digestAuthentication) }
        if options.timeouts.connect != nil { try require(.connectTimeout) }
        if options.timeouts.queue != nil { try require(.queueTimeout) }
        if options.version == .http2PriorKnowledge { try require(.http2PriorKnowledge) }
        if options.expectContinue != nil { try require(.expectContinue) }
        if options.limits.decompressionRatio != nil { try require(.decompressionRatio) }
        if options.onInformational != nil { try require(.informationalResponses) }
    }
}
