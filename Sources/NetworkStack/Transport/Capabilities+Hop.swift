extension HTTP.Capabilities {
    /// Refuses a hop that asks for something that the stack cannot do. A transport calls it before it sends anything; it covers
    /// ``require(for:)-(HTTP.Options)``.
    ///
    /// - Parameter hop: The hop.
    /// - Throws: ``Network/ConfigurationError/unsupported(_:reason:)``.
    public func require(for hop: HTTPHop) throws(Network.ConfigurationError) {
        let request = hop.request
        try require(for: hop.options)
        if hop.options.version == .http1_1, hop.isSecure { try require(.versionChoice) }
        if hop.origin.host.hasPrefix("[") { try require(.ipv6Literals) }
        if hop.hasTrailers { try require(.requestTrailers) }
        if hop.wantsTrailers { try require(.trailers) }
        if request.headers.contains(.host) { try require(.hostHeader) }
        let name = request.method.rawValue
        if name == "GET", request.body.length != 0 { try require(.bodyWithAnyMethod) }
        if Self.methods.contains(name.uppercased()), name != name.uppercased() { try require(.caseSensitiveMethods) }
    }

    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "DELETE"]
}
