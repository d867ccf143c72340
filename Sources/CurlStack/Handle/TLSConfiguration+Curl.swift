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
    /// - Throws: ``RefusedOption``.
    func set(_ tls: Network.TLSConfiguration, _ authorities: Authorities) throws(RefusedOption) {
        self.authorities = authorities
        let isVerified = tls.verification == .full
        namesHosts = isVerified && !tls.acceptsCommonNames
        // A proxy that is spoken to over TLS proves itself as an origin does. It is shown no certificate.
        try set(CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER, isVerified ? 1 : 0)
        try set(CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST, isVerified ? 2 : 0)
        try set(CURLOPT_SSLVERSION, CURLOPT_PROXY_SSLVERSION, tls.versionRange)
        if case .loadedByCurl = authorities {
        } else {
            // libcurl would load them for nothing, and a directory again for every handshake.
            for option in [CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH] {
                try set(option, nil)
            }
        }
        if let identity = tls.clientIdentity { try set(identity) }
    }

    /// libcurl has every option of TLS twice.
    private func set(_ origin: CURLoption, _ proxy: CURLoption, _ value: Int) throws(RefusedOption) {
        try set(origin, value)
        try set(proxy, value)
    }

    private func set(_ identity: Network.ClientIdentity) throws(RefusedOption) {
        switch identity.source {
        case .pem(let chain, let key):
            try set(CURLOPT_SSLCERTTYPE, "PEM")
            try set(CURLOPT_SSLCERT_BLOB, blob: Array(chain))
            try set(CURLOPT_SSLKEYTYPE, "PEM")
            try set(CURLOPT_SSLKEY_BLOB, blob: Array(key))
        case .pkcs12(let box):
            try set(CURLOPT_SSLCERTTYPE, "P12")
            try set(CURLOPT_SSLCERT_BLOB, blob: Array(box))
        case .pemFiles, .pkcs12File: throw RefusedOption(code: CURLE_SSL_CERTPROBLEM)
        }
        // As when it was read: without a text OpenSSL would ask for one, at the terminal, for a key that is encrypted with none.
        try set(CURLOPT_KEYPASSWD, identity.passphrase ?? "")
    }
}
