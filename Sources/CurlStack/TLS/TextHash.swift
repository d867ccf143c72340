internal import COpenSSL

/// A hash function for texts, computed with OpenSSL. The raw value is its name in Digest (RFC 7616), in lower case.
enum TextHash: String {
    case md5
    case sha256 = "sha-256"
    case sha512_256 = "sha-512-256"

    /// The hash of a text, in hexadecimal; `nil` if OpenSSL refuses the function, as it does MD5 under FIPS.
    func callAsFunction(_ text: String) -> String? {
        let method =
            switch self {
            case .md5: unsafe EVP_md5()
            case .sha256: unsafe EVP_sha256()
            case .sha512_256: unsafe EVP_sha512_256()
            }
        var (bytes, count) = ([UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE)), UInt32(0))
        let input = Array(text.utf8)
        guard unsafe EVP_Digest(input, input.count, &bytes, &count, method, nil) == 1 else { return nil }
        return bytes.prefix(Int(count)).map { String(UInt16($0) | 0x100, radix: 16).suffix(2) }.joined()
    }
}
