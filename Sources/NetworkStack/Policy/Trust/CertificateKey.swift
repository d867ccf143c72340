/// Finds the public key in a certificate, for platforms whose API does not return it as encoded.
package enum CertificateKey {
    /// The SubjectPublicKeyInfo of a certificate (RFC 5280 section 4.1), tag and length included, for any type of key.
    ///
    /// - Parameter bytes: The certificate in DER.
    /// - Returns: The bytes whose hash is the pin, or `nil` if `bytes` has no certificate.
    package static func subjectPublicKeyInfo(inDER bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let certificate = Element(bytes[...]), let body = Element(certificate.content) else { return nil }
        var rest = body.content
        // The optional version, serial number, signature algorithm, issuer, validity, subject.
        if rest.first == 0xA0 { rest = Element(rest)?.rest ?? [] }
        for _ in 0..<5 { rest = Element(rest)?.rest ?? [] }
        return Element(rest).flatMap { $0.tag == 0x30 ? $0.whole : nil }
    }

    /// One DER element (X.690 section 8.1).
    private struct Element {
        let tag: UInt8
        let whole: ArraySlice<UInt8>
        let content: ArraySlice<UInt8>
        let rest: ArraySlice<UInt8>

        init?(_ bytes: ArraySlice<UInt8>) {
            guard bytes.count >= 2 else { return nil }
            tag = bytes[bytes.startIndex]
            var start = bytes.startIndex + 2
            var length = Int(bytes[start - 1])
            if length >= 0x80 {
                let digits = length & 0x7F
                guard (1...4).contains(digits), bytes.endIndex - start >= digits else { return nil }
                length = bytes[start..<(start + digits)].reduce(0) { $0 << 8 | Int($1) }
                start += digits
            }
            guard bytes.endIndex - start >= length else { return nil }
            whole = bytes[bytes.startIndex..<(start + length)]
            content = bytes[start..<(start + length)]
            rest = bytes[(start + length)...]
        }
    }
}
