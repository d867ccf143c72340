import CDigest
import Foundation

/// The SHA-256 of bytes that come in parts, which OpenSSL computes.
final class SHA256 {
    private let context: OpaquePointer?

    init() {
        _ = Self.isPrepared
        context = EVP_MD_CTX_new()
        EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    deinit { EVP_MD_CTX_free(context) }

    func update(data: Data) { _ = data.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) } }

    /// OpenSSL must not clean up at exit, while a stack's thread may still use it. The process's first call of OpenSSL decides that.
    private static let isPrepared = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)

    /// The digest of what was added so far, in hexadecimal.
    var hexDigest: String {
        let copy = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(copy) }
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        EVP_MD_CTX_copy_ex(copy, context)
        EVP_DigestFinal_ex(copy, &bytes, &count)
        return bytes.prefix(Int(count)).map { String(format: "%02x", $0) }.joined()
    }
}
