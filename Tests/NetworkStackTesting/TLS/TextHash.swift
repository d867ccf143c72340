import COpenSSL

/// The hash of a text, in hexadecimal, by OpenSSL's name of the algorithm, such as `SHA512-256`; empty if there is no such algorithm.
public func hexadecimalHash(of text: String, _ algorithm: String) -> String {
    var (bytes, count) = ([UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE)), UInt32(0))
    let input = Array(text.utf8)
    let isDone = unsafe EVP_Digest(input, input.count, &bytes, &count, EVP_get_digestbyname(algorithm), nil) == 1
    guard isDone else { return "" }
    return bytes.prefix(Int(count)).map { String(UInt16($0) | 0x100, radix: 16).suffix(2) }.joined()
}
