import COpenSSL

/// OpenSSL's settings of a server for one identity, shared by its connections.
final class TLSContext: @unchecked Sendable {  // unchecked: SSL_CTX counts references and locks by itself
    private let context: OpaquePointer
    /// The ALPN list in wire form; OpenSSL's callback reads it through `self`.
    private let protocols: [UInt8]

    /// Throws `TLSSetupError` if the files are no identity.
    init(_ identity: TLSIdentity, options: ScriptedServer.Options) throws {
        // Before any other call of OpenSSL: its exit handler would free what running threads use.
        OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw TLSSetupError("SSL_CTX_new") }
        self.context = context
        protocols = options.applicationProtocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        guard SSL_CTX_use_certificate_chain_file(context, identity.certificateChainFile) == 1 else {
            throw TLSSetupError("reading the certificate chain \(identity.certificateChainFile)")
        }
        guard SSL_CTX_use_PrivateKey_file(context, identity.keyFile, SSL_FILETYPE_PEM) == 1 else {
            throw TLSSetupError("reading the key \(identity.keyFile)")
        }
        if let version = options.maximumTLSVersion {
            networkstack_SSL_CTX_set_max_proto_version(context, version.code)
            if version == .v11 { SSL_CTX_set_security_level(context, 0) }
        }
        SSL_CTX_set_session_id_context(context, [1], 1)  // without one, a client certificate forbids resumption
        if options.clientCertificate != .ignored {
            let required = options.clientCertificate == .required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0
            if options.clientCertificate == .refused {
                SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
            } else {
                // Any certificate is accepted, because the client is tested.
                SSL_CTX_set_verify(context, SSL_VERIFY_PEER | required) { _, _ in 1 }
            }
        }
        guard !protocols.isEmpty else { return }
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, chosenCount, offered, offeredCount, raw in
                guard let raw, let chosen, let chosenCount, let offered else { return SSL_TLSEXT_ERR_NOACK }
                let own = Unmanaged<TLSContext>.fromOpaque(raw).takeUnretainedValue().protocols
                // The result points into the client's list, which outlives this call.
                var rest = UnsafeBufferPointer(start: offered, count: Int(offeredCount))[...]
                var found: [[UInt8]: UnsafePointer<UInt8>] = [:]
                while let length = rest.first, rest.count > Int(length) {
                    let name = rest.dropFirst().prefix(Int(length))
                    found[Array(name)] = offered + name.startIndex
                    rest = rest.dropFirst(Int(length) + 1)
                }
                var wanted = own[...]
                while let length = wanted.first {
                    let name = Array(wanted.dropFirst().prefix(Int(length)))
                    if let place = found[name] {
                        chosen.pointee = place
                        chosenCount.pointee = length
                        return SSL_TLSEXT_ERR_OK
                    }
                    wanted = wanted.dropFirst(Int(length) + 1)
                }
                return SSL_TLSEXT_ERR_NOACK
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    deinit { SSL_CTX_free(context) }

    func channel(descriptor: Int32) throws -> TLSChannel {
        guard let ssl = SSL_new(context) else { throw TLSSetupError("SSL_new") }
        return TLSChannel(ssl, descriptor: descriptor, context: self)
    }
}
