internal import COpenSSL
internal import NetworkStack

/// The first of two gates on the way to a server whose keys are pinned: OpenSSL asks it in the handshake, before the client
/// finishes it, shows its own certificate, or sends anything.
///
/// It takes the place of OpenSSL's own verification, and runs that itself. The second is ``RequestGate``: this one is not
/// asked when a session is resumed or a connection reused.
enum HandshakeGate {
    /// Puts the gate into a context, which keeps the record for as long as the gate can be asked.
    static func install(in context: OpaquePointer, _ record: UnsafeMutableRawPointer) {
        // OpenSSL calls this in any case, and uses the result only if this is set.
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        unsafe SSL_CTX_set_cert_verify_callback(
            context,
            { store, record in
                guard let store = unsafe store, let record = unsafe record else { return 0 }
                let known = unsafe Unmanaged<TLSRecord>.fromOpaque(record).takeUnretainedValue()
                // libcurl takes the oldest error in OpenSSL's queue for the reason of a failure: none is left behind.
                ERR_set_mark()
                defer { ERR_pop_to_mark() }
                return unsafe HandshakeGate.passes(store, known) ? 1 : 0
            },
            record
        )
    }

    private static func passes(_ store: OpaquePointer, _ record: TLSRecord) -> Bool {
        record.refusal = nil
        let servers = record.peers.pinned(named: unsafe serverName(store))
        // libcurl has the name checked afterwards.
        guard let first = servers.first else { return unsafe X509_verify_cert(store) > 0 }
        guard let parameters = unsafe X509_STORE_CTX_get0_param(store), unsafe expect(first, in: parameters) else {
            unsafe refuse(store, record, first, because: X509_V_ERR_UNSPECIFIED)
            return false
        }
        // Once, for every peer: it cannot be run again on the same certificates.
        guard unsafe X509_verify_cert(store) == 1 else {
            let error = unsafe X509_STORE_CTX_get_error(store)
            unsafe refuse(store, record, first, because: error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error)
            return false
        }
        for other in servers.dropFirst() where unsafe !isNamed(X509_STORE_CTX_get0_cert(store), other) {
            let error = other.isAddress ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH
            unsafe refuse(store, record, other, because: error)
            return false
        }
        // Not the list the server presented, into which anything can be stuffed: the chain that was verified.
        let chain = unsafe X509_STORE_CTX_get0_chain(store).flatMap { unsafe record.verified($0) }
        for server in servers where chain.flatMap({ server.match(in: $0.pins) }) == nil {
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
            let keys = PublicKeyPinVerificationError.pinnedHashNotFound(chain: chain?.pins ?? [])
            record.refusal = .pinVerificationFailed(host: server.host, keys)
            return false
        }
        return true
    }

    /// What the client calls the server of this handshake.
    private static func serverName(_ store: OpaquePointer) -> String? {
        guard let connection = unsafe TLSRecord.connection(verifying: store) else { return nil }
        return unsafe SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name).map { unsafe String(cString: $0) }
    }

    /// Has the verification ask for the host, and for a chain up to a root.
    private static func expect(_ server: PinnedServer, in parameters: OpaquePointer) -> Bool {
        // A chain that ends at an intermediate, because the trusted bundle has it, would never reach a pinned root.
        unsafe X509_VERIFY_PARAM_clear_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        unsafe X509_VERIFY_PARAM_set_hostflags(parameters, nameFlags)
        return server.isAddress
            ? unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, server.host) == 1
            : unsafe X509_VERIFY_PARAM_set1_host(parameters, server.host, server.host.utf8.count) == 1
    }

    /// Whether a certificate is for a host, by the same rules.
    private static func isNamed(_ certificate: OpaquePointer?, _ server: PinnedServer) -> Bool {
        server.isAddress
            ? unsafe X509_check_ip_asc(certificate, server.host, nameFlags) == 1
            : unsafe X509_check_host(certificate, server.host, server.host.utf8.count, nameFlags, nil) == 1
    }

    private static let nameFlags = UInt32(
        X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
    )

    private static func refuse(
        _ store: OpaquePointer,
        _ record: TLSRecord,
        _ server: PinnedServer,
        because error: Int32
    ) {
        unsafe X509_STORE_CTX_set_error(store, error)
        record.refusal = .evaluation(of: server, verifyResult: Int(error))
    }
}

extension ServerTrustError {
    /// A server's certificates did not pass ordinary verification.
    static func evaluation(of server: PinnedServer, verifyResult: Int) -> ServerTrustError {
        let reason = unsafe X509_verify_cert_error_string(verifyResult).map { unsafe String(cString: $0) }
        return .pinVerificationFailed(
            host: server.host,
            .evaluation(verifyResult: verifyResult, reason: reason ?? "unknown")
        )
    }
}
