import Testing

@testable import NetworkStack

@Suite("A media type")
struct MediaTypeTests {
    @Test(
        "is read with its parameters, and written in normal form",
        arguments: [
            ("text/html", "text/html"), ("TEXT/HTML", "text/html"), (" text/html ", "text/html"),
            ("text/html;charset=UTF-8", "text/html; charset=UTF-8"),
            ("text/html ; charset = utf-8", "text/html"), ("text/html; Charset=\"utf-8\"", "text/html; charset=utf-8"),
            ("text/html;;charset=utf-8;", "text/html; charset=utf-8"),
            ("multipart/form-data; boundary=\"a b\"", "multipart/form-data; boundary=\"a b\""),
            ("a/b; q=\"say \\\"hi\\\"; now\"", "a/b; q=\"say \\\"hi\\\"; now\""), ("a/b; x=\"\"", "a/b; x=\"\""),
            ("a/b; x=\"c\\\\\"", "a/b; x=\"c\\\\\""),
            ("application/vnd.api+json", "application/vnd.api+json"), ("*/*", "*/*"), ("", nil), ("text", nil),
            ("text/", nil), ("/html", nil), ("text/html charset=utf-8", nil), ("text/html; charset", "text/html"),
            ("text/html; charset=", "text/html"), ("text/html; x=\"open", "text/html; x=open"), ("te xt/html", nil),
            ("text/ht\r\nml", nil),
        ] as [(String, String?)]
    )
    func reading(_ text: String, _ expected: String?) {
        #expect(HTTP.MediaType(text)?.description == expected)
    }

    @Test("compares type and names without case, and values with it")
    func equality() {
        #expect(HTTP.MediaType("Text/HTML; Charset=x") == HTTP.MediaType("text/html;charset=x"))
        #expect(HTTP.MediaType("a/b; x=Y") != HTTP.MediaType("a/b; x=y"))
        #expect(HTTP.MediaType.json == "application/json")
        #expect(HTTP.MediaType("application/json; charset=utf-8").essence == HTTP.MediaType.json.essence)
    }

    @Test("has its charset, its parameters, and whether it is JSON")
    func parts() {
        let type: HTTP.MediaType = "text/html; charset=UTF-8; q=0.25"
        #expect(type.charset == "utf-8")
        #expect(type[parameter: "Q"] == "0.25")
        for json in ["application/json", "text/json", "application/problem+json; charset=utf-8"] {
            #expect(HTTP.MediaType(json)?.isJSON == true)
        }
        #expect(!HTTP.MediaType.jsonSequence.isJSON)
        #expect(!HTTP.MediaType.plainText.isJSON)
    }

    @Test("reports when it cannot be written")
    func validity() {
        #expect(HTTP.MediaType.multipartFormData.with("boundary", "a b").isValid)
        #expect(!HTTP.MediaType(type: "text", subtype: "").isValid)
        #expect(!("nonsense" as HTTP.MediaType).isValid)
        #expect(!HTTP.MediaType.json.with("x", "a\r\nb").isValid)
        #expect(!HTTP.MediaType.json.with("a b", "c").isValid)
    }

    @Test("can be set in the headers")
    func headers() {
        var headers: HTTP.Headers = ["content-type": "application/json; charset=utf-8"]
        #expect(headers.contentType?.isJSON == true)
        headers.contentType = .plainText
        #expect(headers == ["content-type": "text/plain"])
        headers = HTTP.Headers([.init(name: .contentType, value: "text/html"), .init(name: .contentType, value: "a/b")])
        #expect(headers.contentType?.description == "a/b")
        headers[.contentType] = "nonsense"
        #expect(headers.contentType == nil)
        headers = ["Content-Type": "text/html, text/plain; x=\"1,2\"", "content-type": "nonsense"]
        #expect(headers.contentType?.description == "text/plain; x=\"1,2\"")
        headers = ["Content-Type": "text/html; x=\"", "content-type": "text/plain"]
        #expect(headers.contentType == .plainText)
        #expect(HTTP.MediaType.list("a/b;x=\"1,2\", nonsense,, c/d").map(\.description) == ["a/b; x=\"1,2\"", "c/d"])
    }
}

@Suite("Authentication schemes and challenges")
struct ChallengeTests {
    @Test("a scheme makes credentials, and compares without case")
    func schemes() {
        #expect(HTTP.AuthScheme.bearer.credentials("abc") == "Bearer abc")
        #expect(HTTP.AuthScheme(rawValue: "bearer") == .bearer)
        #expect(Set([HTTP.AuthScheme.bearer, "BEARER", .basic]).count == 2)
    }

    @Test(
        "joined challenges are separated",
        arguments: [
            ("Basic realm=\"a, b\"", ["Basic realm=a, b"]),
            (
                "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
                ["Newauth realm=apps title=Login to \"apps\" type=1", "Basic realm=simple"]
            ),
            ("Negotiate abc==", ["Negotiate abc=="]), ("Negotiate abc= , NTLM", ["Negotiate abc=", "NTLM"]),
            ("Negotiate abc+/==, Basic realm = x", ["Negotiate abc+/==", "Basic realm=x"]),
            ("Basic, Bearer error=\"invalid_token\"", ["Basic", "Bearer error=invalid_token"]),
            (" , ,Digest REALM=\"r\",nonce=\"n\" , , ", ["Digest nonce=n realm=r"]),
            ("NTLM", ["NTLM"]), ("", []), ("\"quoted\"", []), ("Basic realm=\"a\", realm=\"b\"", ["Basic realm=a"]),
            // Malformed challenges are dropped, and the others are used.
            ("\"quoted\", Basic realm=a", ["Basic realm=a"]), ("Basic realm=\"open", ["Basic"]),
            ("Digest realm=\"r\", qop=, nonce=\"n\"", ["Digest nonce=n realm=r"]),
            ("Digest realm=\"r\" nonce=\"n\", qop=\"auth\"", ["Digest nonce=n qop=auth realm=r"]),
            ("Basic realm=foo bar, Bearer", ["Basic realm=foo", "Bearer"]), ("realm=\"x\", Basic", ["Basic"]),
            ("Digest nonce = \"n\" , realm\t=\t\"r\"", ["Digest nonce=n realm=r"]), ("Basic/x, Bearer", ["Bearer"]),
            (
                "Digest qop=\"auth,auth-int\",algorithm=MD5,Digest algorithm=SHA-256",
                ["Digest algorithm=MD5 qop=auth,auth-int", "Digest algorithm=SHA-256"]
            ),
            ("Basic realm=, Bearer", ["Basic realm=", "Bearer"]), ("=x, Basic", ["Basic"]),
            ("Basic ===, Bearer", ["Bearer"]),
        ]
    )
    func challenges(_ text: String, _ expected: [String]) {
        let seen = HTTP.Challenge.list(text).map { challenge in
            let parameters = challenge.parameters.map { "\($0.key)=\($0.value)" }.sorted()
            return ([challenge.scheme.rawValue] + (challenge.token.map { [$0] } ?? []) + parameters).joined(
                separator: " "
            )
        }
        #expect(seen == expected)
    }

    @Test("the headers return all challenges, on any number of lines")
    func lines() {
        let headers: HTTP.Headers = [
            "WWW-Authenticate": "Basic realm=\"a\"", "www-authenticate": "Bearer, Digest qop=auth",
        ]
        #expect(headers.challenges.map(\.scheme) == [.basic, .bearer, .digest])
        #expect(headers.challenges.first?.realm == "a")
    }

    /// Inputs of a quarter of a megabyte with quadratic parsing, which took minutes.
    @Test("a field of any length is read once, whatever quotes it leaves open")
    func long() {
        let fields = ["\\\"", "a ", "a, ", "a=\", ", "=\"", "\"\\\",", "a b=\"c ", "a/"]
        let clock = ContinuousClock()
        for piece in fields {
            let field = "Basic \"" + String(repeating: piece, count: 262_144 / piece.utf8.count)
            let taken = clock.measure {
                _ = HTTP.Challenge.list(field)
                _ = HTTP.Challenge.list(String(field.dropFirst(7)))
                _ = HTTP.MediaType.list(field)
                _ = StrictTransportSecurity(field)
            }
            #expect(taken < .seconds(20), "\(piece)")
        }
    }
}

@Suite("Statuses")
struct StatusPhraseTests {
    @Test("a registered one has its phrase, another none")
    func phrases() {
        #expect(HTTP.StatusCode.notFound.reasonPhrase == "Not Found")
        #expect(HTTP.StatusCode.imUsed.reasonPhrase == "IM Used")
        #expect(
            [102, 305, 510].map { HTTP.StatusCode($0).reasonPhrase } == ["Processing", "Use Proxy", "Not Extended"]
        )
        #expect([306, 418, 499].allSatisfy { HTTP.StatusCode($0).reasonPhrase == nil })
    }
}
