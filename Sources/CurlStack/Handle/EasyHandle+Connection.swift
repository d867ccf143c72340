internal import CCurl
internal import COpenSSL
internal import NetworkStack

extension EasyHandle {
    /// Looks at a kept connection. One of HTTP/2 is exempt: its frames name their stream.
    ///
    /// - Parameter socket: The connection's socket, if it is known, and something waits on it.
    /// - Returns: Whether it holds unrequested bytes, or its end has come.
    func isUnusable(on socket: @autoclosure () -> Int32?) -> Bool {
        guard let tls = unsafe tlsConnection else { return false }
        guard unsafe !speaksHTTP2(tls) else { return false }
        if unsafe SSL_has_pending(tls) == 1 { return true }
        guard route?.proxy.scheme != .https, let socket = socket() else { return false }
        return unsafe isUnusable(tls, on: socket)
    }

    /// Bytes that wait may be TLS's own, such as a session ticket; what is left after those counts.
    ///
    /// TLS reads the socket itself meanwhile: libcurl's own way to it serves only within libcurl's calls, and an error on it
    /// would crash the process.
    private func isUnusable(_ tls: OpaquePointer, on socket: Int32) -> Bool {
        guard let direct = unsafe BIO_new_socket(socket, BIO_NOCLOSE) else { return true }
        let (reads, writes) = unsafe (SSL_get_rbio(tls), SSL_get_wbio(tls))
        // Setting one takes a reference, and releases the one before.
        unsafe BIO_up_ref(reads)
        unsafe BIO_up_ref(writes)
        unsafe BIO_up_ref(direct)
        unsafe BIO_up_ref(direct)
        unsafe SSL_set0_rbio(tls, direct)
        unsafe SSL_set0_wbio(tls, direct)
        let budget = unsafe TLSRecord.of(tls)?.budget
        unsafe budget?.install(on: tls)
        ERR_set_mark()
        var byte: UInt8 = 0
        let isThere = unsafe SSL_peek(tls, &byte, 1) > 0
        let isWaiting = unsafe BIO_test_flags(SSL_get_rbio(tls), BIO_FLAGS_SHOULD_RETRY) != 0
        ERR_pop_to_mark()
        unsafe SSL_set0_rbio(tls, reads)
        unsafe SSL_set0_wbio(tls, writes)
        unsafe BIO_free(direct)
        // What is behind very many tickets was not looked at.
        return isThere || !isWaiting || budget?.isSpent ?? false
    }

    /// Whether something of the request has gone out, on whatever connection.
    var hasSentRequest: Bool { fact(CURLINFO_REQUEST_SIZE) > 0 }

    /// Whether the connection speaks TLS.
    var speaksTLS: Bool { unsafe tlsConnection != nil }

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

    /// What TLS has negotiated, with the server or, before a server without TLS, with a proxy; `nil` without TLS.
    var negotiatedTLS: HTTP.NegotiatedTLS? {
        guard let tls = unsafe tlsConnection else { return nil }
        return unsafe TLSRecord.negotiated(on: tls)
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
