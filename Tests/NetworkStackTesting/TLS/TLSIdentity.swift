import COpenSSL
import Foundation

/// A certificate with its chain and its private key, as PEM files.
public struct TLSIdentity: Sendable, Hashable {
    /// PEM: the leaf first, then the intermediates, without the root.
    public let certificateChainFile: String
    /// PEM: the leaf's private key, not encrypted.
    public let keyFile: String

    /// Makes an identity; nothing is read yet.
    public init(certificateChainFile: String, keyFile: String) {
        self.certificateChainFile = certificateChainFile
        self.keyFile = keyFile
    }

    /// The pins of all certificates in the chain file, leaf first: base64 of SHA-256 over the DER public key info, without a
    /// prefix (libcurl writes `sha256//` before it).
    ///
    /// Throws `TLSSetupError` if the file has no certificate.
    public func publicKeyPins() throws -> [String] { try Self.publicKeyPins(inFile: certificateChainFile) }

    /// The pins of all certificates in a PEM file, in order.
    ///
    /// Throws `TLSSetupError` if the file has none.
    public static func publicKeyPins(inFile path: String) throws -> [String] {
        guard let file = BIO_new_file(path, "r") else { throw TLSSetupError("opening \(path)") }
        defer { BIO_free(file) }
        var pins: [String] = []
        while let certificate = PEM_read_bio_X509(file, nil, nil, nil) {
            defer { X509_free(certificate) }
            var encoded: UnsafeMutablePointer<UInt8>?
            let length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded)
            guard length > 0, let encoded else { throw TLSSetupError("encoding a public key of \(path)") }
            defer { networkstack_OPENSSL_free(encoded) }
            var digest = [UInt8](repeating: 0, count: 32)
            var count: UInt32 = 32
            guard EVP_Digest(encoded, Int(length), &digest, &count, EVP_sha256(), nil) == 1 else {
                throw TLSSetupError("digesting a public key of \(path)")
            }
            pins.append(Data(digest).base64EncodedString())
        }
        ERR_clear_error()  // the read that found no further certificate left one behind
        guard !pins.isEmpty else { throw TLSSetupError("reading \(path): no certificate in it") }
        return pins
    }
}
