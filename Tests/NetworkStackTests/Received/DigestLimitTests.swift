import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("Digest challenges that are not answered")
struct DigestLimitTests {
    @Test(
        "have a typed reason",
        arguments: [
            ("Digest realm=\"r\", nonce=\"n\"", nil),
            ("Digest nonce=n, algorithm=SHA-256-sess, qop=\"auth,auth-int\"", nil),
            ("Basic realm=\"r\"", nil), ("", nil), ("Digest nonce=\"a = b\"", nil),
            ("Digest nonce=\"\\\" = \\\"\"", nil),
            ("Digest realm=\"r\"", .noNonce), ("Digest nonce=n, algorithm=SHA-512", .algorithm("SHA-512")),
            ("Digest nonce=n, algorithm=SHA-512-256", nil), ("Digest nonce=n, algorithm=sha-512-256-SESS", nil),
            ("Digest nonce=n, algorithm=MD5-sess-sess", .algorithm("MD5-sess-sess")),
            ("Digest nonce=n, algorithm=\"\"", .algorithm("")),
            ("Digest nonce=n, qop=\"auth-int\"", .integrityProtection),
            ("Digest nonce=n, qop=AUTH-INT", .integrityProtection), ("Digest nonce=n, qop=\"auth-int, auth\"", nil),
            ("Digest nonce = \"n\"", nil), ("Digest realm=r, nonce= n", nil), ("Digest nonce\t=n", nil),
            ("Digest nonce=n, algorithm=X, Digest nonce=n, algorithm=MD5", nil),
            ("Digest nonce=n, algorithm=X, Digest algorithm=MD5", .algorithm("X")),
            ("Basic realm=r, Digest nonce=n, algorithm=X", .algorithm("X")),
            ("Basic realm = r, Digest nonce=n", nil), ("Negotiate YII= , Digest nonce=n", nil),
            ("Digest nonce=n, Basic realm = r", nil), ("Basic realm=r, Digest nonce = n", nil),
        ] as [(String, HTTP.DigestLimit?)]
    )
    func limits(_ field: String, _ expected: HTTP.DigestLimit?) throws {
        let url = try #require(URL(string: "http://a.test/"))
        var response = HTTP.Response(status: 401, headers: [.wwwAuthenticate: field], url: url)
        #expect(response.digestLimit == expected)
        #expect(response.digestLimit.map { "\($0)".hasPrefix("The Digest challenge") } != false)
        response.headers = [.wwwAuthenticate: "Basic realm=\"a = b\"", "www-authenticate": field]
        #expect(response.digestLimit == expected)
        response.status = 407
        #expect(response.digestLimit == nil)
    }
}
