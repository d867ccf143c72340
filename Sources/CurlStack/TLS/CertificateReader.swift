internal import COpenSSL
internal import FoundationEssentials

/// Reads certificates and keys with OpenSSL, to refuse what libcurl could not use before anything is opened.
enum CertificateReader {
    /// Reads the certificates of PEM text, and skips what else it holds.
    ///
    /// - Returns: How many there are, or `nil` if one of them cannot be read or was not taken.
    static func read(pem: Data, _ take: (OpaquePointer) -> Bool) -> Int? {
        unsafe withBuffer(pem) { buffer in
            var count = 0
            // There is no passphrase; OpenSSL would ask for one, at the terminal.
            while let certificate = unsafe PEM_read_bio_X509_AUX(buffer, nil, { _, _, _, _ in -1 }, nil) {
                defer { unsafe X509_free(certificate) }
                guard unsafe take(certificate) else { return nil }
                count += 1
            }
            // Where no other begins, the text is at its end.
            return networkstack_ERR_reason(ERR_peek_last_error()) == PEM_R_NO_START_LINE ? count : nil
        }
    }

    /// What is wrong with PEM text of a certificate, followed by its intermediates, and of its private key; `nil` if nothing.
    static func fault(certificateChain: Data, privateKey: Data, passphrase: String?) -> String? {
        var certificate: OpaquePointer?
        defer { unsafe X509_free(certificate) }
        // libcurl reads all of them for every handshake, and fails at the first that it cannot read.
        let count = unsafe read(pem: certificateChain) {
            guard unsafe certificate == nil else { return true }
            guard unsafe X509_up_ref($0) == 1 else { return false }
            unsafe certificate = $0
            return true
        }
        guard let count else { return "One of its PEM certificates cannot be read." }
        guard count > 0, let certificate = unsafe certificate else { return "There is no PEM certificate in it." }
        // Without a text OpenSSL would ask for one, at the terminal.
        let key = unsafe (passphrase ?? "").withCString { text in
            unsafe withBuffer(privateKey) {
                unsafe PEM_read_bio_PrivateKey(unsafe $0, nil, nil, UnsafeMutableRawPointer(mutating: text))
            }
        }
        guard let key = unsafe key else {
            return "Its PEM private key cannot be read: there is none, or the passphrase is missing or wrong."
        }
        defer { unsafe EVP_PKEY_free(key) }
        return unsafe matchFault(certificate, key)
    }

    /// What is wrong with PKCS #12 bytes; `nil` if nothing.
    static func fault(pkcs12 bytes: Data, passphrase: String?) -> String? {
        let box = unsafe withBuffer(bytes) { unsafe d2i_PKCS12_bio(unsafe $0, nil) }
        guard let box = unsafe box else { return "It is not PKCS #12." }
        defer { unsafe PKCS12_free(box) }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard unsafe PKCS12_parse(box, passphrase ?? "", &key, &certificate, nil) == 1 else {
            return "Its PKCS #12 cannot be opened: the passphrase is missing or wrong, or its encryption is too old."
        }
        defer {
            unsafe EVP_PKEY_free(key)
            unsafe X509_free(certificate)
        }
        guard let key = unsafe key, let certificate = unsafe certificate else {
            return "Its PKCS #12 has no certificate with a private key."
        }
        return unsafe matchFault(certificate, key)
    }

    private static func matchFault(_ certificate: OpaquePointer, _ key: OpaquePointer) -> String? {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        return unsafe X509_check_private_key(certificate, key) == 1
            ? nil : "The private key is not that of the certificate."
    }

    private static func withBuffer<Result>(_ bytes: Data, _ body: (OpaquePointer?) -> Result) -> Result {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        return unsafe bytes.withUnsafeBytes { raw in
            let buffer = unsafe BIO_new_mem_buf(raw.baseAddress, Int32(clamping: raw.count))
            defer { unsafe BIO_free(buffer) }
            return unsafe body(buffer)
        }
    }
}
