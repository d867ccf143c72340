internal import COpenSSL

/// Refuses a server whose certificate names a host only in its subject, which counts for nothing (RFC 9525 section 2).
/// libcurl takes a name from there where the certificate has no other.
enum HostNames {
    /// Has a context's handshakes ask for certificates that name their hosts.
    static func require(in context: OpaquePointer) {
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER) { passes, store in
            guard passes == 1, let store = unsafe store, unsafe X509_STORE_CTX_get_error_depth(store) == 0 else {
                return passes
            }
            // libcurl takes the oldest error in OpenSSL's queue for the reason of a failure: none is left behind.
            ERR_set_mark()
            defer { ERR_pop_to_mark() }
            if unsafe HostNames.areThere(in: X509_STORE_CTX_get0_cert(store)) { return passes }
            unsafe TLSRecord.of(verifying: store)?.lacksHostNames = true
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH)
            return 0
        }
    }

    /// Whether a certificate has an alternative name that is a host's or an address.
    private static func areThere(in certificate: OpaquePointer?) -> Bool {
        guard let list = unsafe X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return false }
        let names = OpaquePointer(list)
        defer { unsafe GENERAL_NAMES_free(names) }
        return unsafe (0..<networkstack_sk_GENERAL_NAME_num(names)).contains { index in
            let kind = unsafe networkstack_sk_GENERAL_NAME_value(names, index).pointee.type
            return kind == GEN_DNS || kind == GEN_IPADD
        }
    }
}
