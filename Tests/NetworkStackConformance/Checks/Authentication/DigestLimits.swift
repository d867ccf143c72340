import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Digest challenges that cannot be answered, and their reasons in the response.
    static let digestLimits: [ConformanceCheck] = [
        ConformanceCheck("An unanswerable Digest challenge is a 401 with a typed reason") { subject in
            let rows: [(String, HTTP.DigestLimit?)] = [
                ("algorithm=X, nonce=\"n\"", .algorithm("X")),
                ("algorithm=X, nonce=\"n\", Digest realm=\"r\", algorithm=Y, nonce=\"n\"", .algorithm("X")),
                ("algorithm=X, nonce=\"n\", Digest realm=\"r\", algorithm=MD5, nonce=\"n\"", nil),
                ("algorithm=SHA-512-256, nonce=\"n\", qop=\"auth\"", nil),
                ("nonce=\"n\", qop=\"auth-int\"", .integrityProtection), ("qop=\"auth\"", .noNonce),
                ("nonce=\"n\", qop=\"auth\"", nil),
            ]
            for (parameters, limit) in rows {
                let server = try ScriptedServer.responding { _ in
                    .status(401, "no", headers: [("WWW-Authenticate", "Digest realm=\"r\", \(parameters)")])
                }
                let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url("/")]) }
                for method in [HTTP.Method.GET, .POST] {
                    let body: HTTP.Body = method == .POST ? .bytes(Data("content".utf8)) : .none
                    let before = server.requests.count
                    let outcome = try await stack.observe(server.url("/"), method: method, body: body).onlyOutcome()
                    guard case .failure(.http(401, _, let response)) = outcome else {
                        throw ConformanceFailure("Expected a 401 for \(parameters), saw \(outcome.summary)")
                    }
                    try expectEqual(response.digestLimit, limit, "the reason for \(parameters)")
                    let sent = server.requests.count - before
                    try expect(sent <= 3, "\(sent) requests on the wire for \(parameters)")
                }
            }
        }
    ].map { $0.needing(.digestAuthentication).needing(.network) }
}
