internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// A session that only carries: no cookies, no cache, no stored credentials, no clock of its own.
    static func carrying(_ configuration: Network.Configuration) -> URLSessionConfiguration {
        let carrying = URLSessionConfiguration.ephemeral
        carrying.httpCookieStorage = nil
        carrying.httpCookieAcceptPolicy = .never
        carrying.httpShouldSetCookies = false
        carrying.urlCache = nil
        carrying.urlCredentialStorage = nil
        carrying.requestCachePolicy = .reloadIgnoringLocalCacheData
        carrying.timeoutIntervalForRequest = Platform.ownTimeout
        carrying.timeoutIntervalForResource = Platform.ownTimeout
        // To URLSession, all http hosts behind one proxy are the proxy; there the places alone keep the limit.
        let isShared = configuration.proxies.http?.scheme.isHTTP ?? false
        carrying.httpMaximumConnectionsPerHost = isShared ? Int(Int32.max) : configuration.connections.perHost
        return carrying
    }
}

extension Network.Configuration {
    /// Refuses what makes no sense, and what URLSession cannot do.
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
        // Every stream has a place of its own, so a limit that the places keep anyway can be kept.
        let isKept = connections.streamsPerConnection >= min(connections.perHost, connections.total ?? .max, 100)
        if !isKept { try capabilities.require(.streamsPerConnection) }
    }
}
