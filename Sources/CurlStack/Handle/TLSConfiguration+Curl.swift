internal import CCurl
internal import FoundationEssentials
internal import NetworkStack

extension Network.TLSConfiguration {
    /// The oldest and the newest version, as `CURLOPT_SSLVERSION` takes them.
    fileprivate var versionRange: Int {
        let oldest =
            switch minimumVersion {
            case .v1_2: shim_tls_1_2
            case .v1_3: shim_tls_1_3
            }
        let newest =
            switch maximumVersion {
            case .v1_2: shim_max_tls_1_2
            case .v1_3: shim_max_tls_1_3
            case nil: 0
            }
        return oldest | newest
    }

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

extension EasyHandle {
    /// Sets the handle's authorities and client certificate, where they differ from libcurl's defaults.
    ///
    /// - Parameters:
    ///   - tls: What has been read (``Network/TLSConfiguration/read()``).
    ///   - authorities: Its authorities.
    /// - Returns: libcurl's codes.
    func set(_ tls: Network.TLSConfiguration, _ authorities: Authorities) -> [CURLcode] {
        self.authorities = authorities
        let isVerified = tls.verification == .full
        namesHosts = isVerified && !tls.acceptsCommonNames
        var codes: [CURLcode] = []
        // A proxy that is spoken to over TLS proves itself as an origin does. It is shown no certificate.
        for options in [TLSOptions.origin, .proxy] {
            codes += [
                set(options.verifyPeer, isVerified ? 1 : 0), set(options.verifyHost, isVerified ? 2 : 0),
                set(options.version, tls.versionRange),
            ]
            if case .loadedByCurl = authorities { continue }
            // libcurl would load them for nothing, and a directory again for every handshake.
            codes += [set(options.bundle, nil), set(options.directory, nil)]
        }
        if let identity = tls.clientIdentity { codes += set(identity) }
        return codes
    }

    private func set(_ identity: Network.ClientIdentity) -> [CURLcode] {
        // As when it was read: without a text OpenSSL would ask for one, at the terminal, for a key that is encrypted with none.
        let passphrase = identity.passphrase ?? ""
        return switch identity.source {
        case .pem(let chain, let key):
            [
                set(CURLOPT_SSLCERTTYPE, "PEM"), set(CURLOPT_SSLCERT_BLOB, blob: Array(chain)),
                set(CURLOPT_SSLKEYTYPE, "PEM"), set(CURLOPT_SSLKEY_BLOB, blob: Array(key)),
                set(CURLOPT_KEYPASSWD, passphrase),
            ]
        case .pkcs12(let box):
            [
                set(CURLOPT_SSLCERTTYPE, "P12"), set(CURLOPT_SSLCERT_BLOB, blob: Array(box)),
                set(CURLOPT_KEYPASSWD, passphrase),
            ]
        case .pemFiles, .pkcs12File: [CURLE_SSL_CERTPROBLEM]
        }
    }
}

/// libcurl has every option of TLS twice.
private struct TLSOptions {
    let verifyPeer, verifyHost, version, bundle, directory: CURLoption

    static var origin: TLSOptions {
        .init(
            verifyPeer: CURLOPT_SSL_VERIFYPEER,
            verifyHost: CURLOPT_SSL_VERIFYHOST,
            version: CURLOPT_SSLVERSION,
            bundle: CURLOPT_CAINFO,
            directory: CURLOPT_CAPATH
        )
    }

    static var proxy: TLSOptions {
        .init(
            verifyPeer: CURLOPT_PROXY_SSL_VERIFYPEER,
            verifyHost: CURLOPT_PROXY_SSL_VERIFYHOST,
            version: CURLOPT_PROXY_SSLVERSION,
            bundle: CURLOPT_PROXY_CAINFO,
            directory: CURLOPT_PROXY_CAPATH
        )
    }
}
