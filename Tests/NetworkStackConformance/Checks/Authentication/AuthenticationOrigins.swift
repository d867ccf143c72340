import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static func authenticators(
        for url: String
    ) throws -> [any HTTPResourceInterceptor<HTTP.Request, HTTP.Response>] {
        let origin = try HTTP.Origin(of: HTTP.Request(url: url).url)
        return [
            TokenAuthenticator(origins: [origin], store: MemoryTokenStore(AccessToken("secret"))) { _ in
                AccessToken("secret")
            },
            try BasicAuthenticator(user: "user", password: "secret", origins: [origin]),
            try BearerAuthenticator(token: "secret", origins: [origin]),
        ]
    }

    /// The origins that receive credentials.
    static let tokenOrigins: [ConformanceCheck] = [
        ConformanceCheck("Credentials are never sent to another origin, even after a redirect") { subject in
            let other = try subject.serve { _ in .ok("other") }
            let home = try subject.serve {
                switch $0.path {
                case "/away": .redirect(307, to: other.url("/redirected"))
                case "/stay": .redirect(307, to: "/home")
                default: .ok("home")
                }
            }
            for authenticator in try authenticators(for: home.url("/")) {
                let stack = try subject.stack { $0.interceptors = [authenticator] }
                try await stack.text(home.url("/away"))
                try await stack.text(other.url("/direct"))
                try await stack.text(home.url("/stay"))
            }
            try expectEqual(other.requests().count, 6, "requests to the other origin")
            try expect(
                other.requests().allSatisfy { $0["authorization"] == nil },
                "Credentials were sent to another origin"
            )
            try expectEqual(home.requests().count, 9, "requests to the origin")
            try expect(
                home.requests().allSatisfy { $0["authorization"] != nil },
                "Credentials were not sent to their origin"
            )
        },
        ConformanceCheck(
            "TRACE sends no jar cookie and no stored credentials, only written fields",
            rests: [.rfc(9110, "9.3.8")]
        ) {
            subject in
            let peer = try subject.serve { _ in .ok("x", headers: [("Set-Cookie", "a=b")]) }
            for authenticator in try authenticators(for: peer.url("/")) {
                let stack = try subject.stack {
                    $0.interceptors = [authenticator]
                    $0.cookies = HTTP.CookieJar()
                    $0.headers = ["X-Api-Key": "stored", "X-Sent": "1"]
                }
                try await stack.text(peer.url("/"))
                for headers: HTTP.Headers in [[:], [.cookie: "own=1", .authorization: "Own x"]] {
                    _ = try await stack.observe(peer.url("/"), method: .TRACE, headers: headers).onlyOutcome().value()
                }
            }
            let traces = peer.requests().filter { $0.method == "TRACE" }
            try expectEqual(traces.map { $0["cookie"] }, [nil, "own=1", nil, "own=1", nil, "own=1"], "Cookie")
            let credentials = traces.map { $0["authorization"] }
            try expectEqual(credentials, [nil, "Own x", nil, "Own x", nil, "Own x"], "Authorization")
            try expect(traces.allSatisfy { $0["x-api-key"] == nil }, "A secret field of the configuration was sent")
            try expect(traces.allSatisfy { $0["x-sent"] == "1" }, "Another field of the configuration is missing")
        },
        ConformanceCheck("A 401 after a redirect to another origin requests no token") {
            subject in
            let (way, refreshed) = (Lock(""), Lock(0))
            let unauthorized = Reply.status(401, headers: [("WWW-Authenticate", "Bearer")])
            let other = try subject.serve {
                $0.path == "/around" ? .redirect(to: way.withLock { $0 }) : unauthorized
            }
            let home = try subject.serve {
                switch $0.path {
                case "/away", "/around": .redirect(to: other.url($0.path))
                case "/back" where $0["authorization"] == nil: unauthorized
                default: .ok($0["authorization"] ?? "none")
                }
            }
            way.withLock { $0 = home.url("/back") }
            let both = try [home, other].map { try HTTP.Origin(of: HTTP.Request(url: $0.url("/")).url) }
            for origins in [Set(both.prefix(1)), Set(both)] {
                let store = MemoryTokenStore(AccessToken("T0"))
                let authenticator = TokenAuthenticator(origins: origins, store: store) { _ in
                    refreshed.withLock { $0 += 1 }
                    return AccessToken("T1")
                }
                let stack = try subject.stack { $0.interceptors = [authenticator] }
                for (path, hops) in [("/away", 1), ("/around", 2)] {
                    let outcome = try await stack.observe(home.url(path)).onlyOutcome()
                    guard case .failure(.http(401, _, let response)) = outcome else {
                        throw ConformanceFailure("Expected the 401 itself of \(path), saw \(outcome.summary)")
                    }
                    try expectEqual(response.redirects.count, hops, "the redirects of \(path)")
                }
                try expectEqual(try await stack.text(home.url("/")), "Bearer T0", "the credentials")
            }
            try expectEqual(refreshed.withLock { $0 }, 0, "refreshes")
        },
    ]

    /// Credentials for independent servers.
    static let realAuthentication: [ConformanceCheck] = [
        ConformanceCheck("httpbin accepts Basic and Bearer credentials and rejects requests without", needs: [.network])
        {
            subject in
            let httpbin = try await RealServers.shared.httpbin()
            let origin = try HTTP.Origin(of: HTTP.Request(url: httpbin.url("/")).url)
            let (basic, bearer) = (httpbin.url("/basic-auth/anna/s%C3%A9sam"), httpbin.url("/bearer"))
            for path in [basic, bearer] {
                guard case .failure(.http(401, _, _)) = try await subject.stack().observe(path).onlyOutcome() else {
                    throw ConformanceFailure("Expected a 401 without credentials")
                }
            }
            let anna = try BasicAuthenticator(user: "anna", password: "sésam", origins: [origin])
            let token = try BearerAuthenticator(token: "xyz.123", origins: [origin])
            let text = try await subject.stack { $0.interceptors = [anna] }.text(basic)
            try expect(text.contains("anna") && text.contains("true"), text)
            let bearerText = try await subject.stack { $0.interceptors = [token] }.text(bearer)
            try expect(bearerText.contains("xyz.123"), bearerText)
            let wrong = try BasicAuthenticator(user: "anna", password: "wrong", origins: [origin])
            guard
                case .failure(.http(401, _, _)) =
                    try await subject.stack({ $0.interceptors = [wrong] }).observe(basic).onlyOutcome()
            else { throw ConformanceFailure("Expected a 401 with the wrong password") }
        },
        ConformanceCheck("nginx accepts Basic credentials and rejects requests without", needs: [.network]) { subject in
            let nginx = try await RealServers.shared.nginx()
            let url = nginx.httpURL("/basic/text")
            let origin = try HTTP.Origin(of: HTTP.Request(url: url).url)
            func outcome(_ user: String, _ password: String) async throws -> Outcome {
                let authenticator = try BasicAuthenticator(user: user, password: password, origins: [origin])
                return try await subject.stack { $0.interceptors = [authenticator] }.observe(url).onlyOutcome()
            }
            try expectEqual(try await outcome("anna", "sésam").value().response.status, 200, "the status")
            let refused = [
                try await subject.stack().observe(url).onlyOutcome(), try await outcome("anna", "wrong"),
                try await outcome("nobody", "sésam"),
            ]
            for outcome in refused {
                guard case .failure(.http(401, _, let response)) = outcome else {
                    throw ConformanceFailure("Expected a 401, saw \(outcome.summary)")
                }
                try expectEqual(response.headers[.wwwAuthenticate], #"Basic realm="tests""#, "the challenge")
            }
        },
    ]
}
