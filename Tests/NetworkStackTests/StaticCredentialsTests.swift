import FoundationEssentials
import NetworkStack
import Testing

@Suite("Static credentials")
struct StaticCredentialsTests {
    private let origin: HTTP.Origin

    init() throws { origin = try HTTP.Origin(of: try #require(URL(string: "http://a.test/"))) }

    @Test("Basic credentials are name and password in base64 and UTF-8 (RFC 7617 section 2.1)")
    func basic() async throws {
        let authenticator = try BasicAuthenticator(user: "test", password: "123£", origins: [origin])
        let request = try HTTP.Request(url: "http://a.test/", headers: [.authorization: "other"])
        let sent = try await authenticator.authenticateRequest(request)
        #expect(sent.headers.values(for: .authorization) == ["Basic dGVzdDoxMjPCow=="])
    }

    @Test(
        "Names, passwords and tokens that cannot be sent are refused",
        arguments: ["a:b", "a\r\nX: y", "a\0", "\u{7F}"]
    )
    func refused(text: String) {
        #expect(throws: HTTP.InvalidValue.self) { try BasicAuthenticator(user: text, password: "", origins: []) }
        #expect(throws: HTTP.InvalidValue.self) { try BearerAuthenticator(token: text, origins: []) }
        if text != "a:b" {
            #expect(throws: HTTP.InvalidValue.self) { try BasicAuthenticator(user: "", password: text, origins: []) }
        }
    }

    @Test("A bearer token has the characters of RFC 6750", arguments: ["", "=", "a b", "a=b", "é"])
    func bearer(token: String) {
        #expect(throws: HTTP.InvalidValue.self) { try BearerAuthenticator(token: token, origins: []) }
        #expect(throws: Never.self) { try BearerAuthenticator(token: "aZ09-._~+/==", origins: []) }
    }

    @Test("No dump of credentials shows them")
    func redacted() throws {
        var dumped = ""
        dump(try BasicAuthenticator(user: "test", password: "123", origins: [origin]), to: &dumped)
        dump(try BearerAuthenticator(token: "t0k", origins: [origin]), to: &dumped)
        let text = dumped + "\(try BearerAuthenticator(token: "t0k", origins: [origin]))"
        #expect(!text.contains("t0k") && !text.contains("dGVzd"))
    }
}
