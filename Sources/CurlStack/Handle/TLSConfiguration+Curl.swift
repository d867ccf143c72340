internal import FoundationEssentials
internal import NetworkStack

extension Network.TLSConfiguration {
    /// The same configuration with its files read and everything proved to be of use, so that nothing is found out in the
    /// middle of a handshake; and its authorities, parsed.
    ///
    /// - Throws: ``Network/ConfigurationError/invalid(_:)`` with what is wrong, without a byte of it.
    func read() throws(Network.ConfigurationError) -> (Network.TLSConfiguration, Authorities) {
        let authorities: Authorities =
            switch trustRoots {
            case .system: CurlLibrary.shared.trustBundle == nil ? .loadedByCurl : .system
            case .file(let path): .these(try Self.store(Self.bytes(of: path), named: path))
            case .pem(let text): .these(try Self.store(text, named: "The text"))
            }
        var configuration = self
        configuration.clientIdentity = try clientIdentity?.read()
        return (configuration, verification == .full ? authorities : .loadedByCurl)
    }

    private static func store(_ text: Data, named name: String) throws(Network.ConfigurationError) -> TrustStore {
        guard let store = TrustStore(pem: text) else {
            throw .invalid("\(name) of trust roots holds no PEM certificate, or one that cannot be read.")
        }
        return store
    }
}

extension Network.ClientIdentity {
    fileprivate func read() throws(Network.ConfigurationError) -> Network.ClientIdentity {
        let (bytes, fault): (Source, String?)
        switch source {
        case .pemFiles(let certificateChain, let privateKey):
            let (chain, key) = try (
                Network.TLSConfiguration.bytes(of: certificateChain), Network.TLSConfiguration.bytes(of: privateKey)
            )
            (bytes, fault) = (.pem(certificateChain: chain, privateKey: key), pemFault(chain, key))
        case .pem(let chain, let key): (bytes, fault) = (source, pemFault(chain, key))
        case .pkcs12File(let path):
            let box = try Network.TLSConfiguration.bytes(of: path)
            (bytes, fault) = (.pkcs12(box), CertificateReader.fault(pkcs12: box, passphrase: passphrase))
        case .pkcs12(let box):
            (bytes, fault) = (source, CertificateReader.fault(pkcs12: box, passphrase: passphrase))
        }
        if let fault { throw .invalid("\(self) is of no use. \(fault)") }
        return Network.ClientIdentity(bytes, passphrase: passphrase)
    }

    private func pemFault(_ chain: Data, _ key: Data) -> String? {
        CertificateReader.fault(certificateChain: chain, privateKey: key, passphrase: passphrase)
    }
}
