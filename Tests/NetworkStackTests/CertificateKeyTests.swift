import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("The key in a certificate")
struct CertificateKeyTests {
    /// The bytes of the first block in a PEM text.
    private static func der(_ pem: String) throws -> [UInt8] {
        let lines = pem.split(separator: "\n").drop { !$0.hasPrefix("-----BEGIN") }.dropFirst()
        let digits = lines.prefix { !$0.hasPrefix("-----END") }.joined()
        return Array(try #require(Data(base64Encoded: digits)))
    }

    @Test("equals the key that openssl finds, whatever its kind", arguments: KeyKind.allCases)
    func kinds(kind: KeyKind) throws {
        let identity = try TestCertificates.shared().issue(for: TestCertificates.serverNames, key: kind)
        let openssl = try Program("openssl", package: "openssl")
        let file = identity.certificateChainFile
        let expected = try Self.der(openssl.run(["x509", "-in", file, "-noout", "-pubkey"]))
        let certificate = try Self.der(String(contentsOfFile: file, encoding: .utf8))
        #expect(try Array(#require(CertificateKey.subjectPublicKeyInfo(inDER: certificate))) == expected)
    }

    @Test("is found in a certificate of version 1, which omits the version")
    func firstVersion() throws {
        // openssl 3.5 no longer makes such certificates.
        let text = """
            -----BEGIN CERTIFICATE-----
            MIG+MHICAQEwBQYDK2VwMAwxCjAIBgNVBAMMAWEwHhcNMjYxMTIyMDkyNzU3WhcN
            MzYxMTE5MDkyNzU3WjAMMQowCAYDVQQDDAFhMCowBQYDK2VwAyEApMUA7tYhREVY
            ONJ2l4JF2BydMHbFg79OrgB4FXM6d8IwBQYDK2VwA0EAir6VKPArMHq3rx1w+R+s
            cNXzdfpr6insAtm8IbtJDJfGfGGaeyG1lIXf7ZrjQbT4Uc7Q7icCAvNt3IY3FoGQ
            Bg==
            -----END CERTIFICATE-----

            """
        let folder = try TemporaryDirectory("first-version")
        let file = folder.file("certificate")
        try Data(text.utf8).write(to: URL(filePath: file))
        let openssl = try Program("openssl", package: "openssl")
        let certificate = try Self.der(text)
        // No element of context class 0 is at the position of the version.
        #expect(!certificate.prefix(16).contains(0xA0))
        let expected = try Self.der(openssl.run(["x509", "-in", file, "-noout", "-pubkey"]))
        #expect(try Array(#require(CertificateKey.subjectPublicKeyInfo(inDER: certificate))) == expected)
    }

    @Test("is not found in a certificate truncated or changed anywhere")
    func damage() throws {
        let certificate = try Self.der(String(contentsOfFile: TestCertificates.shared().caFile, encoding: .utf8))
        for length in 0..<certificate.count {
            #expect(CertificateKey.subjectPublicKeyInfo(inDER: Array(certificate.prefix(length))) == nil)
        }
        // The result does not matter, but it must not trap.
        for index in certificate.indices {
            for byte: UInt8 in [0, 0x30, 0x7F, 0x80, 0x81, 0x84, 0x85, 0xFF] {
                var damaged = certificate
                damaged[index] = byte
                _ = CertificateKey.subjectPublicKeyInfo(inDER: damaged)
            }
        }
    }
}
