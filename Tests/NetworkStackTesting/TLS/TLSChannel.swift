import COpenSSL
import Glibc

/// TLS over a non-blocking socket, as the server.
final class TLSChannel: ByteChannel {
    private let ssl: OpaquePointer
    /// Retained, because the ALPN callback has a plain pointer to the context.
    private let context: TLSContext
    private(set) var agreed: ConnectionRecord.TLS?
    private(set) var isCloseNotifySeen = false

    init(_ ssl: OpaquePointer, descriptor: Int32, context: TLSContext) {
        self.ssl = ssl
        self.context = context
        SSL_set_fd(ssl, descriptor)
        // A retried write may have another address, and parts may be written before the whole.
        networkstack_SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
    }

    deinit { SSL_free(ssl) }

    func handshake() -> ChannelOutcome {
        ERR_clear_error()
        errno = 0
        let result = SSL_accept(ssl)
        guard result == 1 else { return outcome(of: result) }
        agreed = readAgreement()
        return .moved(0)
    }

    /// Makes the next handshake on this connection, which the client is asked for, use another identity (TLS 1.2 only).
    func renegotiate(as identity: TLSIdentity) throws {
        ERR_clear_error()
        // A resumed session shows no certificate.
        SSL_set_options(ssl, 1 << 16)  // SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION
        guard SSL_use_certificate_chain_file(ssl, identity.certificateChainFile) == 1,
            SSL_use_PrivateKey_file(ssl, identity.keyFile, SSL_FILETYPE_PEM) == 1,
            SSL_renegotiate(ssl) == 1, SSL_do_handshake(ssl) == 1
        else { throw TLSSetupError("renegotiating") }
    }

    /// Makes session tickets without sending them; returns their encrypted bytes (TLS 1.3 only).
    func makeTickets(_ count: Int) throws -> [UInt8] {
        try made {
            for _ in 0..<count {
                guard SSL_new_session_ticket(ssl) == 1 else { throw TLSSetupError("SSL_new_session_ticket") }
            }
            guard SSL_do_handshake(ssl) == 1 else { throw TLSSetupError("making tickets") }
        }
    }

    /// Makes records with the same bytes without sending them; returns their encrypted bytes.
    func makeRecords(_ count: Int, of bytes: [UInt8]) throws -> [UInt8] {
        try made {
            for _ in 0..<count where SSL_write(ssl, bytes, Int32(bytes.count)) != bytes.count {
                throw TLSSetupError("making records")
            }
        }
    }

    /// The bytes that are written meanwhile, which are not sent.
    private func made(_ body: () throws -> Void) throws -> [UInt8] {
        ERR_clear_error()
        guard let memory = BIO_new(BIO_s_mem()), let socket = SSL_get_wbio(ssl) else { throw TLSSetupError("BIO_new") }
        // Setting it takes a reference, and releases the previous one.
        BIO_up_ref(socket)
        BIO_up_ref(memory)
        SSL_set0_wbio(ssl, memory)
        defer {
            SSL_set0_wbio(ssl, socket)
            BIO_free(memory)
        }
        try body()
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(memory))
        guard BIO_read(memory, &bytes, Int32(bytes.count)) == bytes.count else { throw TLSSetupError("BIO_read") }
        return bytes
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelOutcome {
        ERR_clear_error()
        errno = 0
        let result = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        return result > 0 ? .moved(Int(result)) : outcome(of: result)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> ChannelOutcome {
        ERR_clear_error()
        errno = 0
        let result = SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
        return result > 0 ? .moved(Int(result)) : outcome(of: result)
    }

    func notifyClose() {
        guard agreed != nil else { return }  // before the end of the handshake there is nothing to close
        ERR_clear_error()
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    private func outcome(of result: Int32) -> ChannelOutcome {
        let code = errno
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .blocked(on: Int16(POLLIN))
        case SSL_ERROR_WANT_WRITE: return .blocked(on: Int16(POLLOUT))
        case SSL_ERROR_ZERO_RETURN:
            isCloseNotifySeen = true
            return .ended
        case SSL_ERROR_SYSCALL where code == ECONNRESET || code == EPIPE: return .reset
        case SSL_ERROR_SYSCALL where code == 0: return .ended
        case SSL_ERROR_SYSCALL: return .failed(SystemCallError("TLS input or output", code: code).description)
        default:
            // FIN without close_notify is an end, too; the record shows the difference.
            if networkstack_ERR_reason(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING {
                ERR_clear_error()
                return .ended
            }
            // OpenSSL numbers the alerts it received from here on.
            let isAlert = networkstack_ERR_reason(ERR_peek_error()) > SSL_AD_REASON_OFFSET
            let reasons = TLSSetupError.takeReasons()
            return isAlert ? .refused(reasons) : .failed(reasons)
        }
    }

    private func readAgreement() -> ConnectionRecord.TLS {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        let alpn = name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
        var subject: String?
        if let certificate = SSL_get1_peer_certificate(ssl) {
            var text = [CChar](repeating: 0, count: 256)
            X509_NAME_oneline(X509_get_subject_name(certificate), &text, Int32(text.count))
            subject = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            X509_free(certificate)
        }
        return ConnectionRecord.TLS(
            version: String(cString: SSL_get_version(ssl)),
            applicationProtocol: alpn,
            serverName: SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) },
            isResumed: SSL_session_reused(ssl) == 1,
            clientCertificateSubject: subject
        )
    }
}
