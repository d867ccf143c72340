import NetworkStack
import Testing

@testable import CurlStack

@Suite("Answers to Digest challenges")
struct DigestAnswerTests {
    private static func answer(
        _ challenge: String,
        user: String = "u",
        password: String = "p",
        target: String = "/",
        method: String = "GET",
        clientNonce: String = "c"
    ) throws -> [String: String]? {
        let answer = DigestAnswer(
            to: try #require(HTTP.Challenge.list(challenge).first),
            .init(user: user, password: password),
            method: method,
            target: target,
            clientNonce: clientNonce
        )
        return answer.map { HTTP.Challenge.list($0.field)[0].parameters }
    }

    /// RFC 7616 section 3.9.1.
    @Test(
        "are those of the RFC",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ]
    )
    func example(_ algorithm: String, _ response: String) throws {
        let sent = try Self.answer(
            """
            Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
            nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """,
            user: "Mufasa",
            password: "Circle of Life",
            target: "/dir/index.html",
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        )
        #expect(sent?["response"] == response)
        #expect(sent?["opaque"] == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS")
    }

    /// RFC 7616 section 3.9.2. Its hashes are of another algorithm; these are the ones that other implementations agree on.
    @Test("hash the user's name with SHA-512-256")
    func hashedUser() throws {
        let sent = try Self.answer(
            """
            Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, charset=UTF-8, userhash=true, \
            nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS"
            """,
            user: "Jäsøn Doe",
            password: "Secret, or not?",
            target: "/doe.json",
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
        )
        #expect(sent?["username"] == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b")
        #expect(sent?["response"] == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5")
        #expect(sent?["userhash"] == "true")
    }

    /// Computed with Python's hashlib.
    @Test("depend on the nonces in a session, and on no count without a quality of protection")
    func variants() throws {
        let session = try Self.answer(
            #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256-sess"#,
            target: "/a?b",
            method: "POST"
        )
        #expect(session?["response"] == "27fa1bee50fed48890610584c114b62f1fb89a67dd9fbd4f155b45246540b30c")
        let plain = try Self.answer(#"Digest realm="r", nonce="n""#)
        #expect(plain?["response"] == "f23121ca97143c6b358da620220c83b4")
        #expect(plain?["nc"] == nil && plain?["cnonce"] == nil && plain?["qop"] == nil && plain?["algorithm"] == nil)
    }

    @Test(
        "are not given where they could not be sent",
        arguments: [
            #"Digest realm="r", nonce="n", algorithm=X"#, #"Digest realm="r", qop="auth""#,
            #"Digest realm="r", nonce="n", qop="auth-int""#, "Digest nonce=\"\u{1}\"",
            "Digest nonce=\"\(String(repeating: "n", count: 5000))\"",
        ]
    )
    func none(_ challenge: String) throws { #expect(try Self.answer(challenge) == nil) }

    @Test(
        "are left to libcurl where it answers the first challenge correctly",
        arguments: [
            (#"Digest nonce="a""#, []), (#"Digest nonce="a", algorithm=sha-256-SESS, qop="auth", userhash=true"#, []),
            (#"Digest nonce = "a""#, ["a"]), (#"Digest nonce="a" , realm="r""#, ["a"]),
            (#"Digest nonce="a", algorithm=SHA-512-256"#, ["a"]), (#"Digest nonce="a", algorithm=MD5-sess"#, ["a"]),
            (#"Digest algorithm=MD5, Digest nonce="b""#, ["b"]), (#"Digest nonce="a", Digest nonce="b""#, ["a", "b"]),
            (#"Digest nonce="a", Basic realm="r""#, ["a"]), (#"Basic realm="r", Digest nonce="a""#, []),
            ("Digest nonce=\"a\", realm=\"\(String(repeating: "r", count: 1000))\"", ["a"]),
            (#"Basic realm="r""#, []), ("Digest algorithm=X", []),
        ] as [(String, [String])]
    )
    func candidates(_ field: String, _ nonces: [String]) {
        let headers: HTTP.Headers = [.wwwAuthenticate: field]
        let found = DigestAnswer.candidates(in: headers, afterAnswer: false)
        #expect(found.map { $0.parameters["nonce"] } == nonces)
        let afterOurs = DigestAnswer.candidates(in: headers, afterAnswer: true)
        #expect(afterOurs.isEmpty == !field.contains("nonce"), "libcurl has no credentials then")
    }

    @Test("quote every name and realm", arguments: ["\"", "\\", "\"\u{301}", "\\\u{301}\", x=\"y", "ä, b=c"])
    func quoting(_ text: String) throws {
        let sent = try Self.answer("Digest realm=\(text.asQuotedString), nonce=n, qop=auth", user: text)
        #expect(sent?["username"] == text)
        #expect(sent?["realm"] == text)
        #expect(sent?["x"] == nil && sent?["b"] == nil)
    }
}
