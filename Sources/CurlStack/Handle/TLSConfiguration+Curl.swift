internal import FoundationEssentials
internal import NetworkStack

extension Network.TLSConfiguration {
    /// The same configuration with the files of its identity read and everything proved to be of use, so that nothing is found
    /// out in the middle of a handshake; and its authorities, parsed.
    ///
    /// - Throws: ``Network/ConfigurationError/invalid(_:)`` with what is wrong, without a byte of it.
    func read() throws(Network.ConfigurationError) -> (Network.TLSConfiguration, Authorities) {
        var loaded = try loaded()
        var authorities = CurlLibrary.shared.trustBundle == nil ? Authorities.loadedByCurl : .system
        if case .pem(let text) = loaded.trustRoots {
            guard let store = TrustStore(pem: text) else {
                let name = if case .file(let path) = trustRoots { path } else { "The text" }
                throw .invalid("\(name) of trust roots holds no PEM certificate, or one that cannot be read.")
            }
            authorities = .these(store)
        }
        // The text of the authorities is of no more use.
        loaded.trustRoots = trustRoots
        if let clientIdentity, let fault = loaded.clientIdentity?.fault {
            throw .invalid("\(clientIdentity) is of no use. \(fault)")
        }
        return (loaded, verification == .full ? authorities : .loadedByCurl)
    }
}

extension Network.ClientIdentity {
    /// What is wrong with its bytes; `nil` if nothing is, or if they were not read.
    fileprivate var fault: String? {
        switch source {
        case .pem(let chain, let key):
            CertificateReader.fault(certificateChain: chain, privateKey: key, passphrase: passphrase)
        case .pkcs12(let box): CertificateReader.fault(pkcs12: box, passphrase: passphrase)
        case .pemFiles, .pkcs12File: nil
        }
    }
}
