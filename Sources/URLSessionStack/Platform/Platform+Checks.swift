internal import NetworkStack

extension HTTP.Options {
    /// Refuses options that URLSession cannot follow, for any request.
    func checkForURLSession() throws(Network.ConfigurationError) {
        let capabilities = Platform.capabilities
        if pathAsIs { try capabilities.require(.pathAsIs) }
        if !decompresses { try capabilities.require(.disablingDecompression) }
        if passesUnknownCodings { try capabilities.require(.unknownCodings) }
        if collectsServerPins { try capabilities.require(.serverPins) }
        if !digestCredentials.isEmpty { try capabilities.require(.digestAuthentication) }
        if timeouts.connect != nil { try capabilities.require(.connectTimeout) }
        if version == .http2PriorKnowledge { try capabilities.require(.http2PriorKnowledge) }
        if expectContinue != nil { try capabilities.require(.expectContinue) }
        if limits.decompressionRatio != nil { try capabilities.require(.decompressionRatio) }
        if onInformational != nil { try capabilities.require(.informationalResponses) }
    }
}

extension Network.Configuration {
    /// Refuses a configuration that contradicts itself, or that URLSession cannot follow.
    func checkForURLSession() throws(Network.ConfigurationError) {
        do { try validate() } catch { throw .init(error) }
        try options.checkForURLSession()
        let capabilities = Platform.capabilities
        try Platform.check(proxies)
        var others = self
        others.proxies = .none
        try capabilities.requireConnections(of: others)
        if tls.trustRoots != .system { try capabilities.require(.customTrustRoots) }
        if tls.clientIdentity != nil { try capabilities.require(.clientCertificates) }
        if tls.minimumVersion != .v1_2 || tls.maximumVersion != nil { try capabilities.require(.tlsVersions) }
        if tls.verification != .full { try capabilities.require(.unverifiedTLS) }
        if serverTrust != nil, let reason = capabilities.reason(against: .publicKeyPinning) {
            throw .untrusted(.pinningUnsupported(reason: reason))
        }
        // A stream takes one place, so the places keep a limit that is not below theirs.
        let isKept = connections.streamsPerConnection >= min(connections.perHost, connections.total ?? .max, 100)
        if !isKept { try capabilities.require(.streamsPerConnection) }
    }
}
