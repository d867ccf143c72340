import Foundation
import Testing

@testable import NetworkStack

@Suite("Secrets stay out of descriptions")
struct RedactionTests {
    private static let secret = "s3cret"

    private static let request: HTTP.Request? = try? HTTP.Request(
        method: .POST,
        url: "https://user:s3cret@host.test/path?token=s3cret#s3cret",
        headers: [
            "Authorization": "Bearer s3cret", "cookie": "id=s3cret", "Proxy-Authorization": "Basic s3cret",
            "Accept": "text/plain",
        ]
    )

    private static func texts(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(describing: value), String(reflecting: value), dumped]
    }

    @Test("a request's description has no credentials, cookies, user info, query or fragment")
    func request() throws {
        let request = try #require(Self.request)
        for text in Self.texts(of: request) {
            #expect(!text.contains(Self.secret), "\(text)")
            #expect(text.contains("text/plain"))
            #expect(text.contains("host.test/path"))
        }
    }

    @Test("a URL's text for a log has no user info, query or fragment")
    func url() throws {
        let url = try #require(Self.request?.url)
        #expect(HTTP.Redaction().text(of: url) == "https://host.test/path?…")
        #expect(HTTP.Redaction(showsQuery: true).text(of: url) == "https://host.test/path?token=s3cret")
    }

    @Test("a response's description has no cookies and no query")
    func response() throws {
        let url = try #require(URL(string: "http://host.test/path?token=s3cret"))
        let response = HTTP.Response(
            status: 200,
            headers: HTTP.Headers(lines: Array("Set-Cookie: id=s3cret\r\nServer: nginx\r\n".utf8)),
            url: url
        )
        for text in Self.texts(of: response) {
            #expect(!text.contains(Self.secret), "\(text)")
            #expect(text.contains("nginx"))
        }
    }

    @Test("fields that hold a URL are shown without its secrets")
    func fields() {
        let url = "https://user:s3cret@host.test/path?token=s3cret#s3cret"
        let headers: HTTP.Headers = [
            .location: url, .contentLocation: "/path?token=s3cret", .referer: url, "refresh": "5; url=\(url)",
            .link: "<https://host.test/a>; rel=next, <https://host.test/b?token=s3cret>; rel=last",
            "Destination": url, "x-ms-copy-source": url, "X-Original-URL": "/path?token=s3cret",
        ]
        for text in Self.texts(of: headers) {
            #expect(!text.contains(Self.secret), "\(text)")
            #expect(text.contains("Location: https://host.test/path") && text.contains("Content-Location: /path"))
        }
        #expect(headers[.location] == url, "the value itself is unchanged")
    }

    @Test("a header field is shown as in a list")
    func singleField() {
        let headers: HTTP.Headers = [.authorization: Self.secret, .location: "/?\(Self.secret)", "X-A": "shown"]
        for text in headers.flatMap({ Self.texts(of: $0) }) + Self.texts(of: headers.fields) {
            #expect(!text.contains(Self.secret), "\(text)")
        }
        #expect(headers.fields.map(\.description).last == "X-A: shown")
    }

    @Test("the redirects of a response are shown without secrets")
    func redirects() throws {
        let url = try #require(URL(string: "https://user:s3cret@host.test/path?token=s3cret"))
        for text in Self.texts(of: [HTTP.Response.Redirect(url: url, status: 302)]) {
            #expect(!text.contains(Self.secret), "\(text)")
            #expect(text.contains("host.test/path") && text.contains("302"))
        }
    }

    @Test("an endpoint's description has no credentials, parameters, user info, query or fragment")
    func endpoint() throws {
        let endpoint = HTTP.Endpoint(
            baseURL: try #require(Self.request?.url),
            path: "/orders/{id}",
            pathParameters: ["id": Self.secret],
            queryItems: [URLQueryItem(name: "token", value: Self.secret)],
            headers: ["Authorization": "Bearer s3cret", "Accept": "text/plain"],
            content: .text(Self.secret)
        )
        let resource = HTTPResource<HTTP.Request, HTTP.Response>(baseRequestMaking: .endpoint(endpoint))
        for text in Self.texts(of: endpoint) + Self.texts(of: resource) {
            #expect(!text.contains(Self.secret), "\(text)")
        }
        for text in Self.texts(of: endpoint) {
            #expect(text.contains("text/plain") && text.contains("host.test/path") && text.contains("/orders/{id}"))
        }
    }

    @Test("a hop's description has no credentials and no query")
    func hop() throws {
        let (request, origin, urlText, _) = try #require(Self.request).checked()
        let hop = HTTPHop(
            request: request,
            origin: origin,
            urlText: urlText,
            options: Shared(HTTP.Options()),
            trust: .ordinary,
            source: nil,
            allowsWithholding: true
        )
        for text in Self.texts(of: hop) { #expect(!text.contains(Self.secret), "\(text)") }
    }

    @Test("an exported command shows no user info of URLs in fields, and changes nothing else")
    func exportedReferer() throws {
        let json = #"{"u":"https://host.test/?a"}"#
        let request = try HTTP.Request(
            url: "https://host.test/",
            headers: [
                .referer: "https://user:s3cret@host.test/path?page=2", "X-Page": "/app#/home", "X-JSON": json,
                .link: "<https://host.test/a?x=1>",
            ]
        )
        let command = try request.curlCommand()
        #expect(command.contains("Referer: https://host.test/path?page=2"))
        for text in ["X-Page: /app#/home", "X-JSON: \(json)", "Link: <https://host.test/a?x=1>"] {
            #expect(command.contains(text), "\(command)")
        }
        #expect(try request.curlCommand(redacting: nil).contains(Self.secret))
    }

    @Test(
        "every field that carries a secret is left out of every description",
        arguments: ["Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"]
    )
    func secretFields(_ name: HTTP.HeaderName) throws {
        let secrets = HTTP.Headers([.init(name: name, value: Self.secret)])
        let request = try HTTP.Request(url: "https://host.test/", headers: secrets)
        let response = HTTP.Response(status: 200, headers: secrets, url: request.url)
        let field = try #require(secrets.first { _ in true })
        let shown =
            Self.texts(of: request) + Self.texts(of: response) + Self.texts(of: secrets) + Self.texts(of: field)
            + [try request.curlCommand()]
        for text in shown { #expect(!text.contains(Self.secret), "\(text)") }
    }

    @Test(
        "a field whose name has a word for a secret is left out, and no other",
        arguments: [
            ("X-API-Key", true), ("api-key", true), ("X-Goog-Api-Key", true), ("Ocp-Apim-Subscription-Key", true),
            ("X-ApiKey", true), ("X-Auth-Token", true), ("PRIVATE-TOKEN", true), ("X-CSRFToken", true),
            ("X-Amz-Security-Token", true), ("CF-Access-Client-Secret", true), ("X-Session_Id", true),
            ("Authentication-Info", true), ("DPoP", true), ("Idempotency-Key", false), ("Sec-WebSocket-Key", false),
            ("X-Request-ID", false), ("Access-Control-Allow-Credentials", false), ("X-Author", false), ("ETag", false),
            ("X-Tokenizer", false), ("X-Monkey-Api", false), ("X-RapidAPI-Key", true), ("DD-APPLICATION-KEY", true),
            ("Fastly-Key", true), ("AccessKey", true), ("X-Parse-Master-Key", true), ("X-Authorization", true),
            ("x-amz-server-side-encryption-customer-key", true), ("x-ms-authorization-auxiliary", true),
            ("Surrogate-Key", false), ("X-Cache-Key", false), ("Public-Key-Pins", false), ("X-Api-Key-V2", true),
            ("x-amz-server-side-encryption-aws-kms-key-id", false), ("X-Routing-Key", false),
            ("x-amz-server-side-encryption-bucket-key-enabled", false), ("X-Credentials", true), ("X-Secrets", true),
            ("X-Passwords", true), ("X-Tokens", true), ("X-API-Keys", true), ("X-Auth-Tokens-V2", true),
            ("X-Ratelimit-Remaining-Tokens", false), ("Anthropic-RateLimit-Tokens-Limit", false),
            ("X-Amz-Meta-Keynotes", false), ("X-Address", false),
        ]
    )
    func namedSecrets(_ name: String, _ isSecret: Bool) throws {
        let headers = HTTP.Headers([.init(name: .init(name), value: Self.secret)])
        let request = try HTTP.Request(url: "https://host.test/", headers: headers)
        for text in Self.texts(of: request) + [try request.curlCommand()] {
            #expect(text.contains(Self.secret) != isSecret, "\(text)")
        }
    }

    @Test("a challenge is shown without the values that credentials are computed from")
    func challenges() throws {
        let headers: HTTP.Headers = [
            .wwwAuthenticate:
                #"Digest realm="all users", nonce="s3cret", opaque="s3cret", qop="auth", Negotiate s3cret=="#,
            .proxyAuthenticate: #"Basic realm="x""#,
        ]
        for text in Self.texts(of: headers) + headers.challenges.flatMap({ Self.texts(of: $0) }) {
            #expect(!text.contains(Self.secret), "\(text)")
        }
        let shown = "\(headers)"
        #expect(
            shown.contains(
                "Digest nonce=<redacted>, opaque=<redacted>, qop=auth, realm=all users, Negotiate <redacted>"
            )
        )
        #expect(shown.contains("Proxy-Authenticate: Basic realm=x"))
        #expect(headers.challenges.first?.parameters["nonce"] == Self.secret, "the value itself is unchanged")
    }

    /// RFC 7616 section 3.3, RFC 7617 section 2.1 and RFC 6750 section 3 for those that explain; others may be secret.
    @Test("only these parameters of a challenge are shown")
    func parametersOfChallenges() throws {
        let explaining = ["algorithm", "charset", "error", "qop", "realm", "scope", "stale", "userhash"]
        let others = ["cnonce", "domain", "nonce", "opaque", "response", "token", "username"]
        let text = (explaining + others).map { "\($0)=the-\($0)" }.joined(separator: ", ")
        let headers: HTTP.Headers = [.wwwAuthenticate: "Digest \(text)"]
        let challenge = try #require(headers.challenges.first)
        for name in explaining { #expect("\(challenge)".contains("\(name)=the-\(name)")) }
        for name in others { #expect(!"\(challenge)".contains("the-\(name)")) }
    }

    @Test("an exported command sends a blank field, which curl would drop")
    func exportedBlank() throws {
        let request = try HTTP.Request(url: "https://host.test/", headers: ["X-Blank": " "])
        #expect(try request.curlCommand().contains("--header 'X-Blank;'"))
    }

    @Test("the description of an invalid date does not crash the process")
    func dates() {
        let none = Date(timeIntervalSince1970: .nan)
        #expect(AccessToken(Self.secret, expirationDate: none).description == "Bearer <redacted>")
    }

    @Test("a refusal's description has no user info and no query")
    func refusals() throws {
        let url = try #require(URL(string: "http://user:s3cret@host.test/path?token=s3cret"))
        let refusals: [HTTPTransferFailure<any Error>] = [
            .insecureRedirect(url), .timedOut(.idle, during: .waiting),
            .invalidRedirect("ftp://user:s3cret@host.test/path?token=s3cret"),
            .invalidRedirect("https:user:s3cret@host.test/path"), .invalidRedirect("//user:s3cret@host.test/path"),
            .invalidRedirect("https:///user:s3cret@host.test/path"),
        ]
        for refusal in refusals {
            #expect(!"\(refusal)".contains(Self.secret))
        }
        #expect("\(HTTPTransferFailure<any Error>.insecureRedirect(url))".contains("host.test/path"))
    }

    @Test("a fetch error's description has no secret of the response it carries")
    func fetchErrors() throws {
        let url = try #require(URL(string: "http://user:s3cret@host.test/?token=s3cret"))
        let response = HTTP.Response(status: 401, headers: [.setCookie: "s3cret"], url: url)
        let errors: [HTTPFetchError<HTTP.Response, any Error>] = [
            .http(401, nil, response), .noData(200, response), .badResponse(response), .insecureRedirect(url),
        ]
        for error in errors {
            for text in Self.texts(of: error) { #expect(!text.contains(Self.secret), "\(text)") }
        }
    }

    @Test(
        "a URL is shown without its secrets",
        arguments: [
            ("http://h.test/p", "http://h.test/p"), ("http://u:p@h.test/p", "http://h.test/p"),
            ("http://u:p@h.test", "http://h.test"), ("http://h.test/a@b", "http://h.test/a@b"),
            ("http://h.test?q=u@x", "http://h.test?\u{2026}"), ("http://h.test/#f", "http://h.test/?\u{2026}"),
            ("http://u@h.test/?a=b#c", "http://h.test/?\u{2026}"), ("http://a:b%40c@h.test/", "http://h.test/"),
            ("/@user/a", "/@user/a"), ("a/b@c", "a/b@c"), ("//u@h.test/p", "//h.test/p"),
        ]
    )
    func urls(_ text: String, _ shown: String) throws {
        #expect(try #require(URL(string: text)).redactedDescription == shown)
    }
}
