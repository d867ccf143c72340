internal import CCurl
internal import COpenSSL

extension EasyHandle {
    /// Whether the connection speaks TLS, and if so, whether it holds content that nobody asked for; `nil` without TLS.
    ///
    /// Bytes that wait may be TLS's own, such as a session ticket; what is left after those counts. HTTP/2 is exempt: its
    /// frames say what they belong to.
    var tlsHasUnaskedContent: Bool? {
        guard let tls = unsafe tlsConnection else { return nil }
        guard unsafe !speaksHTTP2(tls) else { return false }
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        var byte: UInt8 = 0
        return unsafe SSL_peek(tls, &byte, 1) > 0
    }

    /// Whether TLS has agreed on HTTP/2; `nil` without TLS.
    var negotiatedHTTP2: Bool? {
        guard let tls = unsafe tlsConnection else { return nil }
        return unsafe speaksHTTP2(tls)
    }

    /// What is noted of the connection's TLS, if it has any.
    var tlsRecord: TLSRecord? {
        guard let tls = unsafe tlsConnection else { return nil }
        return unsafe TLSRecord.of(tls)
    }

    /// What the connection's server has proved itself with.
    var serverProof: RequestGate.Proof {
        guard let tls = unsafe tlsConnection else { return .none }
        return unsafe RequestGate.proof(on: tls)
    }

    private var tlsConnection: OpaquePointer? {
        var info: UnsafeMutableRawPointer?
        unsafe shim_easy_get_pointer(pointer, CURLINFO_TLS_SSL_PTR, &info)
        guard let session = unsafe info?.assumingMemoryBound(to: curl_tlssessioninfo.self).pointee,
            unsafe session.backend == CURLSSLBACKEND_OPENSSL
        else { return nil }
        return unsafe session.internals.map { OpaquePointer($0) }
    }

    private func speaksHTTP2(_ tls: OpaquePointer) -> Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(tls, &name, &length)
        guard length == 2, let name = unsafe name else { return false }
        return unsafe name[0] == UInt8(ascii: "h") && name[1] == UInt8(ascii: "2")
    }
}
