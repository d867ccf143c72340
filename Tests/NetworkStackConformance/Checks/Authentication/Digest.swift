import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Digest authentication (RFC 7616).
    static let digest: [ConformanceCheck] =
        [
            ConformanceCheck("httpbin accepts Digest credentials of every algorithm, and rejects requests without") {
                subject in
                let httpbin = try await RealServers.shared.httpbin()
                let stack = try subject.stack { $0.options = try .digest("anna", "geheim", at: [httpbin.url("/")]) }
                for path in ["/digest-auth/auth/anna/geheim/MD5", "/digest-auth/auth/anna/geheim/SHA-256"] {
                    let text = try await stack.text(httpbin.url(path))
                    try expect(text.contains("anna") && text.contains("true"), text)
                    guard
                        case .failure(.http(401, _, _)) = try await subject.stack().observe(httpbin.url(path))
                            .onlyOutcome()
                    else { throw ConformanceFailure("Expected a 401 without credentials") }
                }
                let wrong = try subject.stack { $0.options = try .digest("anna", "falsch", at: [httpbin.url("/")]) }
                let outcome = try await wrong.observe(httpbin.url("/digest-auth/auth/anna/geheim/MD5")).onlyOutcome()
                guard case .failure(.http(401, _, let response)) = outcome, response.headers.contains(.wwwAuthenticate)
                else {
                    throw ConformanceFailure("Expected a 401 with the wrong password, saw \(outcome.summary)")
                }
            },
            ConformanceCheck("A Digest challenge is answered as RFC 7616 requires, within the fetch") {
                subject in
                let server = try challenging()
                let stack = try subject.stack {
                    $0.options = try .digest("Mufasa", "Circle of Life", at: [server.url("/")])
                }
                let fetched = try await stack.observe(server.url("/dir/index.html")).onlyOutcome().value()
                try expectEqual(String(decoding: fetched.value, as: UTF8.self), "in", "the body")
                try expectEqual(fetched.response.status, 200, "the status")
                try expect(
                    !fetched.response.headers.contains(.wwwAuthenticate),
                    "The response has a field of the challenge"
                )
                try expectEqual(fetched.response.trailers, nil, "the trailers")
                let sent = server.requests.map { $0["authorization"] ?? "none" }
                try expectEqual(sent.count, 2, "requests on the wire")
                try expectEqual(sent[0], "none", "credentials before the challenge")
                for part in [
                    #"username="Mufasa""#, #"realm="r""#, #"nonce="n1""#, #"uri="/dir/index.html""#, "qop=auth",
                ] {
                    try expect(sent[1].hasPrefix("Digest ") && sent[1].contains(part), "\(part) is missing: \(sent[1])")
                }
                try expect(!sent[1].contains("Circle"), "The password was sent")
            },
            ConformanceCheck("A Digest upload sends its body once, even a one-shot body") { subject in
                let server = try challenging()
                let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url("/")]) }
                func chunks() -> AsyncStream<Data> {
                    AsyncStream { continuation in
                        continuation.yield(Data("once".utf8))
                        continuation.finish()
                    }
                }
                let bodies: [HTTP.Body] = [
                    .bytes(Data("once".utf8)), .stream(.init(chunks(), length: 4)), .stream(.init(chunks())),
                ]
                for body in bodies {
                    let before = server.requests.count
                    try await stack.observe(server.url("/"), method: .POST, body: body).onlyOutcome().value()
                    let texts = server.requests[before...].map(\.text)
                    try expectEqual(texts, ["", "once"], "bodies on the wire")
                }
            },
            ConformanceCheck("Digest credentials go only to their origin, at every hop") { subject in
                let other = try challenging()
                let home = try ScriptedServer.responding { _ in .redirect(307, to: other.url("/")) }
                let stack = try subject.stack { $0.options = try .digest("u", "p", at: [home.url("/")]) }
                guard case .failure(.http(401, _, _)) = try await stack.observe(home.url("/")).onlyOutcome() else {
                    throw ConformanceFailure("Expected the other origin's 401")
                }
                try expect(other.requests.allSatisfy { $0["authorization"] == nil }, "Another origin got credentials")
                let both = try subject.stack {
                    $0.options = try .digest("u", "p", at: [home.url("/"), other.url("/")])
                }
                try await both.text(home.url("/"))
            },
            ConformanceCheck("TRACE answers no challenge with Digest credentials", rests: [.rfc(9110, "9.3.8")]) {
                subject in
                let server = try challenging()
                let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url("/")]) }
                let outcome = try await stack.observe(server.url("/"), method: .TRACE).onlyOutcome()
                guard case .failure(.http(401, _, _)) = outcome else {
                    throw ConformanceFailure("Expected the 401, saw \(outcome.summary)")
                }
                try expectEqual(server.requests.map { $0["authorization"] }, [nil], "Authorization")
            },
            ConformanceCheck("The Digest credentials of one fetch are not used by the next") { subject in
                let (first, second) = (try challenging(), try challenging(nonce: "n2"))
                let stack = try subject.stack()
                func text(_ server: ScriptedServer, _ options: HTTP.Options?) async throws -> HTTP.StatusCode? {
                    switch try await stack.observe(server.url("/"), options: options).onlyOutcome() {
                    case .success(let fetched): fetched.response.status
                    case .failure(let error): error.statusCode
                    }
                }
                try expectEqual(try await text(first, try .digest("u", "p", at: [first.url("/")])), 200, "the first")
                try expectEqual(try await text(second, nil), 401, "the second, without credentials")
                try expectEqual(try await text(first, nil), 401, "the first, without credentials")
                try expectEqual(try await text(second, try .digest("v", "q", at: [second.url("/")])), 200, "the second")
                let sent = (first.requests + second.requests).compactMap { $0["authorization"] }
                try expectEqual(sent.count, 2, "requests with Digest credentials")
            },
            ConformanceCheck("A cookie jar stores the cookies of an answered challenge") { subject in
                let server = try challenging(cookie: "s=1")
                let jar = HTTP.CookieJar()
                let stack = try subject.stack {
                    $0.options = try .digest("u", "p", at: [server.url("/")])
                    $0.cookies = jar
                }
                try await stack.text(server.url("/"))
                try expectEqual(jar.cookies.map(\.value), ["1"], "the cookies")
            },
            ConformanceCheck("A redirect to the same URL after a challenge carries its cookie") { subject in
                let server = try ScriptedServer.responding { request in
                    if request["cookie"]?.contains("s=1") == true { return .ok("in") }
                    return request["authorization"] == nil
                        ? .status(
                            401,
                            headers: [
                                ("WWW-Authenticate", #"Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256"#),
                                ("Set-Cookie", "s=1"),
                            ]
                        ) : .redirect(to: "/")
                }
                let stack = try subject.stack {
                    $0.options = try .digest("u", "p", at: [server.url("/")])
                    $0.cookies = HTTP.CookieJar()
                }
                try expectEqual(try await stack.text(server.url("/")), "in", "the body")
            },
            ConformanceCheck("The first-byte timeout covers the response to the Digest credentials") {
                subject,
                scale in
                let challenge = """
                    HTTP/1.1 401 No\r
                    WWW-Authenticate: Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256\r
                    Content-Length: 0\r
                    \r

                    """
                for beginning in ["HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 200 OK\r\nX: y\r\n"] {
                    let server = try ScriptedServer { _ in
                        [.receiveRequest, .send(challenge), .receiveRequest, .send(beginning), .waitForClose]
                    }
                    let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url()]) }
                    var options = try HTTP.Options.digest("u", "p", at: [server.url()])
                    options.timeouts = .init(firstByte: .milliseconds(500) * scale, idle: .seconds(3) * scale)
                    let fetch = try stack.observe(server.url(), options: options)
                    try await fetch.onlyOutcome().expectTimeout(.firstByte, during: [.waiting])
                }
            },
            ConformanceCheck("Trailers of an answered challenge are not added to the final response") { subject in
                let challenge = """
                    HTTP/1.1 401 No\r
                    WWW-Authenticate: Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256\r
                    Transfer-Encoding: chunked\r
                    Trailer: X-Left\r
                    \r
                    2\r
                    no\r
                    0\r
                    X-Left: over\r
                    \r

                    """
                let server = try ScriptedServer { _ in
                    [
                        .receiveRequest, .send(challenge), .receiveRequest,
                        .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin"), .waitForClose,
                    ]
                }
                let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url()]) }
                let fetched = try await stack.observe(server.url()).onlyOutcome().value()
                try expectBytes(fetched.value, "in".utf8)
                try expectEqual(fetched.response.trailers, nil, "the trailers")
            },
            ConformanceCheck("An Authorization field of the request replaces Digest credentials") { subject in
                let server = try challenging()
                let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url("/")]) }
                _ = try await stack.observe(server.url("/"), headers: [.authorization: "Bearer T"]).onlyOutcome()
                try expectEqual(server.requests.map { $0.values(of: "authorization") }, [["Bearer T"]], "credentials")
            },
            ConformanceCheck("A challenge of another scheme is an ordinary 401 with its body") { subject in
                let server = try ScriptedServer.responding { _ in
                    .status(401, "who?", headers: [("WWW-Authenticate", #"Basic realm="r""#)])
                }
                let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url("/")]) }
                let content = Lock(Data())
                let resource = ConformanceSubject.Stack.Resource(
                    baseRequestMaking: .request(try HTTP.Request(url: server.url("/"))),
                    errorDecoding: .init { payload, _ in
                        content.withLock { $0 = payload ?? Data() }
                        return nil
                    }
                )
                guard case .failure(.http(401, _, let response)) = try await stack.observe(resource).onlyOutcome()
                else {
                    throw ConformanceFailure("Expected a 401")
                }
                try expectEqual(content.withLock { $0 }, Data("who?".utf8), "the body")
                try expectEqual(response.headers[.wwwAuthenticate], #"Basic realm="r""#, "the challenge")
                try expectEqual(server.requests.count, 1, "requests on the wire")
            },
            ConformanceCheck(
                "A POST answering a challenge is not repeated after its connection closes",
                needs: [.network]
            ) {
                subject in
                let challenge = """
                    HTTP/1.1 401 No\r
                    WWW-Authenticate: Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256\r
                    Content-Length: 0\r
                    \r

                    """
                let server = try ScriptedServer { _ in [.receiveRequest, .send(challenge), .receiveRequest, .close] }
                let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url()]) }
                let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(Data("once".utf8)))
                let outcome = try await stack.observe(.init(baseRequestMaking: .request(request))).onlyOutcome()
                guard case .failure = outcome else {
                    throw ConformanceFailure("Expected a failure, saw \(outcome.summary)")
                }
                let answers = server.requests.filter { $0["authorization"] != nil }
                try expectEqual(answers.count, 1, "requests with Digest credentials")
            },
            ConformanceCheck("Repeated new Digest challenges end the fetch") { subject in
                let server = try ScriptedServer.responding { request in
                    .status(
                        401,
                        headers: [("WWW-Authenticate", #"Digest realm="r", nonce="x", qop="auth", stale=true"#)]
                    )
                }
                let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url("/")]) }
                let outcome = try await stack.observe(server.url("/")).onlyOutcome(within: .seconds(10))
                guard case .failure = outcome else {
                    throw ConformanceFailure("Expected a failure, saw \(outcome.summary)")
                }
                try expect(server.requests.count < 10, "\(server.requests.count) requests on the wire")
            },
            ConformanceCheck("User names and passwords with control characters are refused") { subject in
                for text in ["a\0", "a\r\nX: y"] {
                    let request = try ConformanceSubject.Stack.Resource.get(
                        "http://127.0.0.1/",
                        options: try .digest("u", text, at: ["http://127.0.0.1/"])
                    )
                    guard case .invalidRequest = try await subject.stack().observe(request).onlyOutcome().refusal()
                    else {
                        throw ConformanceFailure("Expected invalidRequest")
                    }
                }
            },
        ].map { $0.needing(.digestAuthentication).needing(.network) } + [
            ConformanceCheck("A stack without Digest support refuses Digest credentials") { subject in
                guard !subject.capabilities.supports(.digestAuthentication) else { return }
                let resource = try ConformanceSubject.Stack.Resource.get(
                    "http://127.0.0.1/",
                    options: try .digest("u", "p", at: ["http://127.0.0.1/"])
                )
                guard
                    case .unsupported(.digestAuthentication, _) = try await subject.stack().observe(resource)
                        .onlyOutcome()
                        .refusal()
                else { throw ConformanceFailure("Expected unsupported") }
            }
        ]

    /// A server that requires Digest credentials, and accepts any.
    private static func challenging(nonce: String = "n1", cookie: String? = nil) throws -> ScriptedServer {
        try ScriptedServer.responding { request in
            request["authorization"]?.contains("nonce=\"\(nonce)\"") == true
                ? .ok("in")
                : .status(
                    401,
                    "challenge",
                    headers: [
                        ("WWW-Authenticate", #"Digest realm="r", nonce="\#(nonce)", qop="auth", algorithm=SHA-256"#)
                    ] + (cookie.map { [("Set-Cookie", $0)] } ?? [])
                )
        }
    }
}

extension HTTP.Options {
    /// The default options with Digest credentials for some servers.
    static func digest(_ user: String, _ password: String, at urls: [String]) throws -> HTTP.Options {
        var options = HTTP.Options()
        for url in urls {
            let origin = try HTTP.Origin(of: HTTP.Request(url: url).url)
            options.digestCredentials[origin] = .init(user: user, password: password)
        }
        return options
    }
}
