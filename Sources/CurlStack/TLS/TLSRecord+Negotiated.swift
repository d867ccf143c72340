internal import COpenSSL
internal import NetworkStack

extension TLSRecord {
    /// What a connection's handshake came to.
    static func negotiated(on connection: OpaquePointer) -> HTTP.NegotiatedTLS {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(connection, &name, &length)
        let selected = unsafe UnsafeBufferPointer(start: name, count: Int(length))
        let group = unsafe networkstack_SSL_get_negotiated_group(connection)
        return unsafe HTTP.NegotiatedTLS(
            version: String(cString: SSL_get_version(connection)),
            cipher: SSL_CIPHER_get_name(SSL_get_current_cipher(connection)).map { unsafe String(cString: $0) },
            applicationProtocol: selected.isEmpty ? nil : String(decoding: selected, as: UTF8.self),
            // OpenSSL marks a group that it has no name for.
            group: group > 0 && group < 0x100_0000 ? OBJ_nid2sn(group).map { unsafe String(cString: $0) } : nil,
            isResumed: SSL_session_reused(connection) == 1
        )
    }
}
