internal import COpenSSL
internal import NetworkStack

/// The certificates a server was verified by, its own first, and their public keys.
///
/// It keeps the certificates, so that no other can ever stand at their addresses: whether a connection still has this chain
/// is decided by comparing pointers, and its keys are hashed once.
@safe
final class VerifiedChain {
    private let certificates: [OpaquePointer]
    /// The keys' hashes, in the same order.
    let pins: [PublicKeyPin]

    /// Reads a chain that OpenSSL has verified, or `nil` if it is empty or a key cannot be read.
    init?(_ chain: OpaquePointer) {
        let count = unsafe networkstack_sk_X509_num(chain)
        let certificates = unsafe (0..<count).compactMap { unsafe networkstack_sk_X509_value(chain, $0) }
        let pins = unsafe certificates.compactMap { unsafe Self.pin(of: $0) }
        guard count > 0, unsafe certificates.count == count, pins.count == count else { return nil }
        for index in unsafe certificates.indices { unsafe X509_up_ref(certificates[index]) }
        unsafe self.certificates = certificates
        self.pins = pins
    }

    deinit {
        for index in unsafe certificates.indices { unsafe X509_free(certificates[index]) }
    }

    /// Whether a chain consists of these very certificates.
    func isSame(as chain: OpaquePointer) -> Bool {
        guard unsafe networkstack_sk_X509_num(chain) == certificates.count else { return false }
        return unsafe certificates.indices.allSatisfy {
            unsafe networkstack_sk_X509_value(chain, Int32($0)) == certificates[$0]
        }
    }

    /// SHA-256 of a certificate's SubjectPublicKeyInfo as it is encoded there, whatever the key's type.
    private static func pin(of certificate: OpaquePointer) -> PublicKeyPin? {
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded)
        guard length > 0, let encoded = unsafe encoded else { return nil }
        defer { unsafe networkstack_OPENSSL_free(encoded) }
        var hash = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_Digest(encoded, Int(length), &hash, nil, EVP_sha256(), nil) == 1 else { return nil }
        return PublicKeyPin(sha256: hash)
    }
}
