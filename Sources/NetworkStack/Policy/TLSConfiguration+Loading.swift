internal import FoundationEssentials

extension Network.TLSConfiguration {
    /// Reads the files of the configuration, so that a missing one is found when the stack is made.
    ///
    /// Whether the bytes are certificates and keys is up to the stack's TLS library.
    ///
    /// - Returns: The configuration with the files' bytes in the place of their paths.
    /// - Throws: ``Network/ConfigurationError/invalid(_:)`` with the path of a file that cannot be read.
    public func loaded() throws(Network.ConfigurationError) -> Network.TLSConfiguration {
        var loaded = self
        if case .file(let path) = trustRoots { loaded.trustRoots = .pem(try Self.bytes(of: path)) }
        guard let identity = clientIdentity else { return loaded }
        switch identity.source {
        case .pemFiles(let chain, let key):
            let source = Network.ClientIdentity.Source.pem(
                certificateChain: try Self.bytes(of: chain),
                privateKey: try Self.bytes(of: key)
            )
            loaded.clientIdentity = .init(source, passphrase: identity.passphrase)
        case .pkcs12File(let path):
            loaded.clientIdentity = .init(.pkcs12(try Self.bytes(of: path)), passphrase: identity.passphrase)
        case .pem, .pkcs12: break
        }
        return loaded
    }

    private static func bytes(of path: String) throws(Network.ConfigurationError) -> Data {
        do { return try Data(contentsOf: URL(filePath: path)) } catch {
            throw .invalid("\(path) cannot be read.")
        }
    }
}
