internal import FoundationEssentials
internal import NIOSSL
internal import NetworkStack

extension TLSConfiguration {
    /// Makes the configuration of NIOSSL, and proves that it can be used.
    ///
    /// - Parameter tls: The settings, with their files read.
    /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` if the certificates or the key cannot be used.
    init(_ tls: Network.TLSConfiguration) throws(Network.ConfigurationError) {
        self = .makeClientConfiguration()
        minimumTLSVersion = tls.minimumVersion == .v1_2 ? .tlsv12 : .tlsv13
        maximumTLSVersion = tls.maximumVersion.map { $0 == .v1_2 ? .tlsv12 : .tlsv13 }
        if tls.verification == .disabledForTesting { certificateVerification = .none }
        do {
            if case .pem(let roots) = tls.trustRoots {
                trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(roots)))
            }
            if let identity = tls.clientIdentity { try set(identity) }
            _ = try NIOSSLContext(configuration: self)
        } catch {
            throw .invalid("The trust roots or the client's identity cannot be used: \(error)")
        }
    }

    private mutating func set(_ identity: Network.ClientIdentity) throws {
        let passphrase = identity.passphrase.map { Array($0.utf8) }
        switch identity.source {
        case .pem(let chain, let key):
            let certificates = try NIOSSLCertificate.fromPEMBytes(Array(chain))
            certificateChain = certificates.map { .certificate($0) }
            privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key), format: .pem) { $0(passphrase ?? []) })
        case .pkcs12(let bytes):
            let bundle = try NIOSSLPKCS12Bundle(buffer: Array(bytes), passphrase: passphrase)
            certificateChain = bundle.certificateChain.map { .certificate($0) }
            privateKey = .privateKey(bundle.privateKey)
        case .pemFiles, .pkcs12File: break
        }
    }
}
