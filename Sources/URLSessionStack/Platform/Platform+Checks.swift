internal import NetworkStack

extension Network.Configuration {
    /// Refuses a configuration that contradicts itself, or that URLSession cannot follow.
    func checkForURLSession() throws(Network.ConfigurationError) {
        do { try validate() } catch { throw .init(error) }
        try Platform.check(proxies)
        var others = self
        others.proxies = .none
        try Platform.capabilities.require(for: others)
    }
}
