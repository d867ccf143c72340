public import NetworkStack

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A configuration from a `URLSessionConfiguration`.
extension Network.Configuration {
    /// Makes a stack's configuration of one for URLSession, so that a program keeps its settings on any stack.
    ///
    /// | URLSession | stack |
    /// |---|---|
    /// | `timeoutIntervalForRequest` | the idle timeout |
    /// | `timeoutIntervalForResource` | the total timeout; its default of 7 days leaves none |
    /// | `httpMaximumConnectionsPerHost` | `connections.perHost` |
    /// | `httpAdditionalHeaders` | `headers`; a redirect to another origin loses the secret ones |
    /// | cookies | a new jar, unless the configuration has no storage, or neither sets nor accepts cookies |
    ///
    /// A stack has no cache, no stored credentials and no protocol classes. Everything else has the stack's defaults.
    ///
    /// - Parameter configuration: The configuration for URLSession.
    /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` if it sets proxies (use
    ///   ``/NetworkStack/Network/Configuration/proxies``), or wants what only a cache has.
    public init(_ configuration: URLSessionConfiguration) throws(Network.ConfigurationError) {
        guard configuration.connectionProxyDictionary?.isEmpty ?? true else {
            throw .invalid("A connectionProxyDictionary cannot be converted. Set the stack's proxies instead.")
        }
        guard configuration.requestCachePolicy != .returnCacheDataDontLoad else {
            throw .invalid("There is no cache, so a stack cannot have the policy returnCacheDataDontLoad.")
        }
        self.init()
        let (idle, total) = (configuration.timeoutIntervalForRequest, configuration.timeoutIntervalForResource)
        if idle > 0 { options.timeouts.idle = .seconds(min(idle, 1e9)) }
        if total > 0, total < 7 * 24 * 60 * 60 { options.timeouts.total = .seconds(total) }
        connections.perHost = configuration.httpMaximumConnectionsPerHost
        sendWithEveryRequest(HTTP.Headers(additional: configuration.httpAdditionalHeaders ?? [:]))
        if configuration.httpCookieStorage != nil, configuration.httpShouldSetCookies,
            configuration.httpCookieAcceptPolicy != .never
        {
            cookies = HTTP.CookieJar()
        }
    }

    /// Sends header fields with every request. A redirect to another origin does not take the secret ones along.
    mutating func sendWithEveryRequest(_ fields: HTTP.Headers) {
        headers = fields
        sensitiveHeaders.formUnion(fields.secretNames)
    }
}
