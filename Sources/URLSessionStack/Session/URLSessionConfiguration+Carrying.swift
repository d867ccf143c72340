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
