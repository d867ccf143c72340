import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Digest challenges of every kind that servers may send, and answers that a server verifies.
    static let digestAnswers: [ConformanceCheck] = [
        ConformanceCheck("The first answerable of several Digest challenges is answered correctly") { subject in
            let rows: [(challenges: [String], hash: String)] = [
                ([#"nonce="n", qop="auth", algorithm=MD5"#], "MD5"),
                ([#"nonce="n", qop="auth", algorithm=SHA-256"#], "SHA256"),
                ([#"nonce="n", qop="auth", algorithm=SHA-512-256"#], "SHA512-256"),
                ([#"nonce="n", qop="auth", algorithm=SHA-512-256-sess, opaque="o \" p""#], "SHA512-256"),
                ([#"nonce="n", algorithm=SHA-512-256"#], "SHA512-256"),
                ([#"nonce = "n", qop="auth""#], "MD5"), ([#"nonce="n", qop = "auth,auth-int""#], "MD5"),
                ([#"nonce="n", qop="auth", algorithm=SHA-256, userhash=true"#], "SHA256"),
                ([#"nonce="n", qop="auth", algorithm=SHA-512-256, userhash=true"#], "SHA512-256"),
                ([#"algorithm=MD5 , nonce="n", qop="auth""#], "MD5"), ([#"nonce="n", qop="auth ,auth-int""#], "MD5"),
                ([#"nonce="n", algorithm=MD5-sess"#], "MD5"), ([#"nonce="n", qop="""#], "MD5"),
                ([#"nonce="n", qop="auth", opaque="\#(String(repeating: "o", count: 1500))""#], "MD5"),
                ([#"nonce="n", qop="auth", Bearer error="e", realm="b""#], "MD5"),
                ([#"nonce="n", qop="auth", algorithm=SHA-256"#, #"nonce="x", qop="auth", algorithm=Y"#], "SHA256"),
                ([#"nonce="n", qop="auth", algorithm=SHA-256"#, #"nonce="x", qop="auth", algorithm=MD5"#], "SHA256"),
                ([#"nonce="x", qop="auth", algorithm=X"#, #"nonce="n", qop="auth", algorithm=SHA-256"#], "SHA256"),
                ([#"nonce="x", qop="auth-int""#, #"qop="auth""#, #"nonce="n", qop="auth""#], "MD5"),
                (
                    [#"nonce="n", qop="auth", algorithm=SHA-512-256"#, #"nonce="x", qop="auth", algorithm=MD5"#],
                    "SHA512-256"
                ),
            ]
            for (challenges, hash) in rows {
                for isOneField in [true, false] {
                    let all = challenges.map { #"Digest realm="a \" b", "# + $0 }
                    let fields = isOneField ? [all.joined(separator: ", ")] : all
                    let server = try verifying(fields, hash)
                    let stack = try subject.stack { $0.options = try .digest("Jäsøn", "p:w", at: [server.url()]) }
                    for (method, body) in [(HTTP.Method.GET, HTTP.Body.none), (.POST, .stream(.init(once())))] {
                        let before = server.requests.count
                        let outcome = try await stack.observe(server.url("/a%2fb?c=d"), method: method, body: body)
                            .onlyOutcome()
                        guard case .success(let fetched) = outcome else {
                            throw ConformanceFailure("\(method) past \(challenges): \(outcome.summary)")
                        }
                        try expectBytes(fetched.value, "in".utf8)
                        let sent = server.requests[before...].map(\.text)
                        try expectEqual(sent, method == .GET ? ["", ""] : ["", "once"], "bodies past \(challenges)")
                    }
                }
            }
        },
        ConformanceCheck("A stale Digest answer is replaced, a rejected one is final") { subject in
            for algorithm in ["SHA-256", "SHA-512-256"] {
                let server = try ScriptedServer.responding { request in
                    let answer = request["authorization"] ?? ""
                    if request.target == "/", answer.contains(#"nonce="n2""#) { return .ok("in") }
                    let isStale = request.target == "/" && !answer.isEmpty
                    let nonce = isStale ? #"nonce="n2", stale=TRUE"# : #"nonce="n1""#
                    let challenge = #"Digest realm="r", qop="auth", algorithm=\#(algorithm), "# + nonce
                    return .status(401, "no", headers: [("WWW-Authenticate", challenge)])
                }
                let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url()]) }
                try expectEqual(try await stack.text(server.url()), "in", "after a stale answer with \(algorithm)")
                let before = server.requests.count
                let outcome = try await stack.observe(server.url("/other")).onlyOutcome()
                guard case .failure(.http(401, _, let response)) = outcome else {
                    throw ConformanceFailure("Expected the 401, saw \(outcome.summary)")
                }
                try expectEqual(response.digestLimit, nil, "the reason")
                try expectEqual(server.requests.count - before, 2, "requests with rejected credentials")
            }
        },
        ConformanceCheck("Four stale answers to a SHA-512-256 challenge end the fetch") { subject in
            let server = try ScriptedServer.responding { _ in
                let challenge = #"Digest realm="r", nonce="n", qop="auth", stale=true, algorithm=SHA-512-256"#
                return .status(401, headers: [("WWW-Authenticate", challenge), ("Set-Cookie", "s=1")])
            }
            let jar = HTTP.CookieJar()
            let stack = try subject.stack {
                $0.options = try .digest("u", "p", at: [server.url()])
                $0.cookies = jar
            }
            guard case .failure(.http(401, _, _)) = try await stack.observe(server.url()).onlyOutcome() else {
                throw ConformanceFailure("Expected the 401")
            }
            try expectEqual(server.requests.count, 5, "requests on the wire")
            try expectEqual(jar.cookies.map(\.value), ["1"], "the cookies")
        },
        ConformanceCheck("A Digest answer uses no idle HTTP/2 connection", needs: [.http2PriorKnowledge]) { subject in
            let server = try ScriptedServer { index in
                let challenge = #"WWW-Authenticate: Digest realm="r", nonce="n", qop="auth""#
                return index == 0
                    ? [.beginHTTP2, .answerStream, .waitForClose]
                    : [
                        .receiveHead, .send("HTTP/1.1 401 no\r\n\(challenge)\r\nContent-Length: 0\r\n\r\n"),
                        .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin"), .waitForClose,
                    ]
            }
            let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url()]) }
            var options = HTTP.Options()
            options.version = .http2PriorKnowledge
            _ = try await stack.observe(server.url(), options: options).onlyOutcome().value()
            let answered = try await stack.observe(server.url()).onlyOutcome(within: .seconds(10)).value()
            try expectBytes(answered.value, "in".utf8)
            try expect((2...3).contains(server.snapshot.accepted), "\(server.snapshot.accepted) connections")
        },
    ].map { $0.needing(.digestAuthentication).needing(.network) }

    private static func once() -> AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(Data("once".utf8))
            continuation.finish()
        }
    }

    /// A server that accepts answers to one nonce, if they prove the password.
    private static func verifying(_ challenges: [String], _ hash: String) throws -> ScriptedServer {
        let opaque = challenges.flatMap { HTTP.Challenge.list($0) }.first { $0.parameters["nonce"] == "n" }?
            .parameters["opaque"]
        return try ScriptedServer.responding { request in
            if let answer = request["authorization"].flatMap({ HTTP.Challenge.list($0).first }),
                answer.parameters["opaque"] == opaque, proves(answer.parameters, request, hash)
            {
                return .ok("in")
            }
            return .status(401, "no", headers: challenges.map { ("WWW-Authenticate", $0) })
        }
    }

    /// Whether the parameters of `Authorization` prove the password (RFC 7616 section 3.4.1).
    private static func proves(_ sent: [String: String], _ request: ReceivedRequest, _ hash: String) -> Bool {
        func hashed(_ parts: String?...) -> String {
            hexadecimalHash(of: parts.map { $0 ?? "missing" }.joined(separator: ":"), hash)
        }
        let (nonce, clientNonce) = (sent["nonce"], sent["cnonce"])
        var secret = hashed("Jäsøn", #"a " b"#, "p:w")
        if sent["algorithm"]?.hasSuffix("-sess") ?? false { secret = hashed(secret, nonce, clientNonce) }
        let message = hashed(request.method, request.target)
        let expected =
            sent["qop"] == nil
            ? hashed(secret, nonce, message) : hashed(secret, nonce, sent["nc"], clientNonce, sent["qop"], message)
        let user = sent["userhash"] == "true" ? hashed("Jäsøn", #"a " b"#) : "Jäsøn"
        return nonce == "n" && sent["username"] == user && sent["uri"] == request.target
            && sent["response"] == expected && clientNonce.map { $0.count >= 16 } ?? (sent["qop"] == nil)
    }
}
