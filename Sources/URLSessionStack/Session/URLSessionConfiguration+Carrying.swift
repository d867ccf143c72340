internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// A configuration without cookies, cache, stored credentials and timeouts.
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
        // URLSession treats all http hosts behind one proxy as one host; there only the places enforce the limit.
        let isShared = configuration.proxies.http?.scheme.isHTTP ?? false
        carrying.httpMaximumConnectionsPerHost = isShared ? Int(Int32.max) : configuration.connections.perHost
        return carrying
    }
}

extension URLSession {
    /// A session that only carries.
    static func carrying(_ configuration: Network.Configuration, delegate: any URLSessionDelegate) -> URLSession {
        URLSession(configuration: .carrying(configuration), delegate: delegate, delegateQueue: Platform.eventQueue())
    }
}
