import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Fields that follow a redirect to another origin, and fields that do not.
    static let redirectOrigins: [ConformanceCheck] =
        [301, 302, 303, 307, 308].map(strips)
        + [
            ConformanceCheck("A redirect within the origin keeps all credentials") { subject in
                let peer = try subject.serve {
                    $0.path.hasSuffix("/start") ? .redirect(302, to: "/next") : .ok("there")
                }
                _ = try await client(subject).get(peer.url("/start"), headers: secrets)
                for field in secrets {
                    try expectEqual(
                        peer.requests().last?.values(of: field.name.rawValue),
                        [field.value],
                        "\(field.name)"
                    )
                }
            },
            ConformanceCheck("A redirect back to the first origin does not restore secrets") { subject in
                let hop = Lock("")
                let home = try subject.serve { request in
                    request.path.hasSuffix("/start") ? .redirect(302, to: hop.withLock { $0 }) : .ok("there")
                }
                let away = try subject.serve { _ in .redirect(302, to: home.url("/end")) }
                hop.withLock { $0 = away.url("/away") }
                _ = try await client(subject).get(home.url("/start"), headers: secrets)
                try expectEqual(home.requests().count, 2, "requests")
                for field in secrets where field.name != "X-Other" {
                    try expectEqual(home.requests().last?.values(of: field.name.rawValue), [], "\(field.name)")
                }
            },
            ConformanceCheck("A field not listed as secret follows a redirect") { subject in
                let target = try subject.serve { _ in .ok("there") }
                let peer = try subject.serve { _ in .redirect(302, to: target.url("/")) }
                _ = try await subject.client().get(peer.url("/"), headers: ["X-Api-Key": "k3y"])
                try expectEqual(target.onlyRequest()["X-Api-Key"], "k3y", "X-Api-Key")
            },
            ConformanceCheck("A secret field is dropped in any case and every line") { subject in
                let target = try subject.serve { _ in .ok("there") }
                let peer = try subject.serve { _ in .redirect(302, to: target.url("/")) }
                var headers: HTTP.Headers = ["aUTHORIZATION": "Bearer t", "x-API-key": "k3y"]
                headers.append("k4y", for: "X-Api-Key")
                headers.append("a=b", for: "cookie")
                _ = try await client(subject).get(peer.url("/"), headers: headers)
                for name in ["Authorization", "X-Api-Key", "Cookie"] {
                    try expectEqual(target.onlyRequest().values(of: name), [], name)
                }
            },
            ConformanceCheck("The URL's credentials do not follow a redirect to another origin") { subject in
                let target = try subject.serve { _ in .ok("there") }
                let peer = try subject.serve { _ in .redirect(302, to: target.url("/")) }
                let url = peer.url("/").replacing("http://", with: "http://user:secret@", maxReplacements: 1)
                _ = try await subject.client().get(url)
                try expectEqual(
                    peer.onlyRequest().values(of: "Authorization").count,
                    1,
                    "Authorization at the first origin"
                )
                try expectEqual(target.onlyRequest().values(of: "Authorization"), [], "Authorization")
            },
            ConformanceCheck("The URL's credentials follow a redirect within the origin") { subject in
                let peer = try subject.serve {
                    $0.path.hasSuffix("/start") ? .redirect(302, to: "/next") : .ok("there")
                }
                let url = peer.url("/start").replacing("http://", with: "http://user:secret@", maxReplacements: 1)
                _ = try await subject.client().get(url)
                let sent = peer.requests().map { $0.values(of: "Authorization") }
                try expectEqual(sent, Array(repeating: ["Basic dXNlcjpzZWNyZXQ="], count: 2), "Authorization")
            },
            ConformanceCheck("Another name for the same machine is another origin", needs: [.network]) { subject in
                let port = Lock("")
                let server = try ScriptedServer.responding { request in
                    request.path == "/start" ? .redirect(302, to: port.withLock { $0 }) : .ok("there")
                }
                port.withLock { $0 = server.url("/next", host: "localhost") }
                _ = try await client(subject).get(server.url("/start"), headers: secrets)
                try expectEqual(server.requests.last?.values(of: "Authorization"), [], "Authorization")
                try expectEqual(server.requests.last?.values(of: "Host"), ["localhost:\(server.port)"], "Host")
            },
            ConformanceCheck("A Host field follows a redirect only within its origin", needs: [.network, .hostHeader]) {
                subject in
                let target = try ScriptedServer.responding { _ in .ok("there") }
                let peer = try ScriptedServer.responding { request in
                    request.path == "/start" ? .redirect(302, to: "/next") : .redirect(302, to: target.url("/"))
                }
                _ = try await subject.client().get(peer.url("/start"), headers: [.host: "own.test"])
                let hosts = (peer.requests + target.requests).map { $0.values(of: "Host") }
                try expectEqual(hosts, [["own.test"], ["own.test"], [target.authority]], "Host")
            },
            ConformanceCheck("A redirect from https to http is refused", needs: [.network, .customTrustRoots]) {
                subject in
                let (plain, secure, client) = try downgrade(subject) { _ in }
                let refusal = try await client.refusal(HTTP.Request(url: secure.url()))
                guard case .insecureRedirect(let url, _) = refusal else {
                    throw ConformanceFailure("expected an insecure redirect, saw \(refusal)")
                }
                try expectEqual(url.absoluteString, plain.url("/plain"), "the URL")
                try expectEqual(plain.snapshot.accepted, 0, "connections to the http server")
            },
            ConformanceCheck(
                "A redirect from https to http is followed if allowed",
                needs: [.network, .customTrustRoots]
            ) { subject in
                let (plain, secure, client) = try downgrade(subject) { $0.options.redirects.allowsInsecure = true }
                _ = try await client.get(secure.url(), headers: [.authorization: "Bearer t"])
                try expectEqual(plain.requests.map(\.path), ["/plain"], "the targets")
                try expectEqual(plain.requests.first?.values(of: "Authorization"), [], "Authorization")
            },
            ConformanceCheck("A redirect from http to https is followed", needs: [.network, .customTrustRoots]) {
                subject in
                let certificates = try TestCertificates.shared()
                let secure = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("there") }
                let plain = try ScriptedServer.responding { _ in .redirect(301, to: secure.url("/secure")) }
                let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
                let fetched = try await client.get(plain.url())
                try expectEqual(fetched.response.url.absoluteString, secure.url("/secure"), "the URL of the response")
            },
        ]

    private static let secrets: HTTP.Headers = [
        .authorization: "Bearer t0ken", .cookie: "session=1", .proxyAuthorization: "Basic eA==", "X-Api-Key": "k3y",
        "X-Other": "plain",
    ]

    private static func client(_ subject: ConformanceSubject) throws -> BoundedClient {
        try subject.client { $0.sensitiveHeaders = ["X-Api-Key"] }
    }

    private static func strips(_ code: Int) -> ConformanceCheck {
        ConformanceCheck("A \(code) to another port carries no secrets") { subject in
            let target = try subject.serve { _ in .ok("there") }
            let peer = try subject.serve { _ in .redirect(code, to: target.url("/next")) }
            _ = try await client(subject).get(peer.url("/start"), headers: secrets)
            let (first, second) = (try peer.onlyRequest(), try target.onlyRequest())
            for field in secrets {
                let name = field.name.rawValue
                try expectEqual(first.values(of: name), [field.value], "\(name) at the first origin")
                try expectEqual(second.values(of: name), name == "X-Other" ? ["plain"] : [], "\(name) at the second")
            }
        }
    }

    private static func downgrade(
        _ subject: ConformanceSubject,
        _ configure: (inout Network.Configuration) -> Void
    ) throws -> (plain: ScriptedServer, secure: ScriptedServer, client: BoundedClient) {
        let certificates = try TestCertificates.shared()
        let plain = try ScriptedServer.responding { _ in .ok("there") }
        let secure = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in
            .redirect(302, to: plain.url("/plain"))
        }
        let client = try subject.client { configuration in
            configuration.tls.trustRoots = .file(path: certificates.caFile)
            configure(&configuration)
        }
        return (plain, secure, client)
    }
}
