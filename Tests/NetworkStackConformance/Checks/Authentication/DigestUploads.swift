import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Uploads with Digest credentials: a stack that delays the body until the challenge requests that first, without a body.
    static let digestUploads: [ConformanceCheck] = [
        ConformanceCheck("A Digest upload returns only the response to its body") {
            subject in
            let basic = [(name: "WWW-Authenticate", value: #"Basic realm="r""#)]
            let unasked: [Reply] = [
                .ok("empty"), .status(201, headers: [("Set-Cookie", "a=b")]), .status(204), .chunked(["em", "pty"]),
                .redirect(303, to: "/elsewhere"), .redirect(307, to: "/elsewhere"), .status(401, "empty"),
                .status(401, "empty", headers: basic), .status(404, "empty"), .status(407, "empty"),
                .status(411), .status(500, "empty"),
            ]
            for reply in unasked {
                for method in [HTTP.Method.POST, .PUT, .PATCH] {
                    for (name, body) in bodies("whole") {
                        let what = "\(method) of \(name) past \(String(decoding: reply.head.prefix(12), as: UTF8.self))"
                        let server = try ScriptedServer.responding { request in
                            request.bodyCount == 0 ? reply : .status(202, "taken")
                        }
                        let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url("/")]) }
                        let outcome = try await stack.observe(server.url("/"), method: method, body: body).onlyOutcome()
                        guard case .success(let fetched) = outcome else {
                            throw ConformanceFailure("\(what): \(outcome.summary)")
                        }
                        try expectEqual(fetched.response.status, 202, "the status of \(what)")
                        try expectBytes(fetched.value, "taken".utf8, what)
                        try expectEqual(fetched.response.trailers, nil, "the trailers of \(what)")
                        try expectEqual(server.requests.map(\.text).filter { $0 != "" }, ["whole"], what)
                        try expect(server.requests.allSatisfy { $0.path == "/" }, "a redirect was followed: \(what)")
                    }
                }
            }
        },
        ConformanceCheck("A Digest upload fails with the response to its body") {
            subject in
            let server = try ScriptedServer.responding { $0.bodyCount == 0 ? .ok("empty") : .status(409, "full") }
            let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url("/")]) }
            for (name, body) in bodies("whole") {
                let outcome = try await stack.observe(server.url("/"), method: .POST, body: body).onlyOutcome()
                guard case .failure(.http(409, _, _)) = outcome else {
                    throw ConformanceFailure("Expected a 409 for \(name), saw \(outcome.summary)")
                }
            }
        },
        ConformanceCheck(
            "A Digest upload with rejected credentials ends in its body's 401",
            needs: [.customTrustRoots]
        ) { subject in
            let certificates = try TestCertificates.shared()
            for options in [ScriptedServer.Options(), .init(tls: certificates.server)] {
                let server = try ScriptedServer.responding(options) { _ in
                    .status(401, "no", headers: [("WWW-Authenticate", challenge)])
                }
                let stack = try subject.stack {
                    $0.options = try .digest("u", "wrong", at: [server.url()])
                    $0.tls.trustRoots = .file(path: certificates.caFile)
                }
                for (name, body) in bodies("whole") {
                    let before = server.requests.count
                    let outcome = try await stack.observe(server.url(), method: .POST, body: body).onlyOutcome()
                    guard case .failure(.http(401, _, _)) = outcome else {
                        throw ConformanceFailure("Expected a 401 for \(name), saw \(outcome.summary)")
                    }
                    let sent = server.requests[before...]
                    try expectEqual(
                        sent.map { $0["authorization"] != nil },
                        [false, true],
                        "whether each request of \(name) has credentials"
                    )
                    try expectEqual(sent.last?.text, "whole", "the body sent with the credentials, of \(name)")
                }
            }
        },
        ConformanceCheck("A request without a body is sent once if no challenge comes") { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url("/")]) }
            for method in [HTTP.Method.POST, .PUT, .PATCH, .DELETE] {
                for (name, body) in bodies("").dropLast() + [("nothing", HTTP.Body.none)] {
                    let before = server.requests.count
                    let outcome = try await stack.observe(server.url("/"), method: method, body: body).onlyOutcome()
                    try expectBytes(outcome.value().value, "done".utf8, "\(method) of \(name)")
                    try expectEqual(server.requests.count - before, 1, "requests on the wire: \(method) of \(name)")
                }
            }
        },
        ConformanceCheck("A request without a body answers a Digest challenge") { subject in
            let server = try ScriptedServer.responding { request in
                if request["authorization"]?.contains("nonce=\"n1\"") == true { return .ok("in") }
                let challenge = #"Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256"#
                return .status(401, headers: [("WWW-Authenticate", challenge)])
            }
            let stack = try subject.stack { $0.options = try .digest("u", "p", at: [server.url("/")]) }
            for method in [HTTP.Method.POST, .PUT, .DELETE] {
                for (name, body) in bodies("").dropLast() + [("nothing", HTTP.Body.none)] {
                    let before = server.requests.count
                    let outcome = try await stack.observe(server.url("/"), method: method, body: body).onlyOutcome()
                    try expectBytes(outcome.value().value, "in".utf8, "\(method) of \(name)")
                    try expectEqual(server.requests.count - before, 2, "requests on the wire: \(method) of \(name)")
                }
            }
        },
        ConformanceCheck(
            "A Digest upload over HTTP/2 returns only the response to its body",
            needs: [.http2PriorKnowledge]
        ) { subject in
            for status in [200, 204, 404] {
                for (name, body) in bodies("whole") {
                    let (heads, contents) = (Lock(0), Lock<[Int]>([]))
                    let server = try http2Server { _ in
                        [.run { try answerSecond(heads, contents, otherwiseThan: status, on: $0) }]
                    }
                    var options = try HTTP.Options.digest("u", "p", at: [server.url()])
                    options.version = .http2PriorKnowledge
                    let stack = try subject.stack { $0.options = options }
                    let outcome = try await stack.observe(server.url(), method: .POST, body: body).onlyOutcome()
                    guard case .success(let fetched) = outcome else {
                        throw ConformanceFailure("\(name) past \(status): \(outcome.summary)")
                    }
                    try expectEqual(fetched.response.status, 202, "the status of \(name) past \(status)")
                    try expectEqual(contents.withLock { $0 }, [5], "body bytes on the wire: \(name) past \(status)")
                }
            }
        },
    ].map { $0.needing(.digestAuthentication).needing(.network) }

    /// A body of each kind, with its name; the last has an unknown length.
    private static func bodies(_ text: String) -> [(name: String, body: HTTP.Body)] {
        func chunks() -> AsyncStream<Data> {
            AsyncStream { continuation in
                continuation.yield(Data(text.utf8))
                continuation.finish()
            }
        }
        return [
            ("bytes", .bytes(Data(text.utf8))),
            ("a stream of a length", .stream(.init(chunks(), length: Int64(text.utf8.count)))),
            ("a stream", .stream(.init(chunks()))),
        ]
    }

    private static let challenge = #"Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256"#

    /// Answers the first request at its head, and the second when it is complete.
    private static func answerSecond(
        _ heads: Lock<Int>,
        _ contents: Lock<[Int]>,
        otherwiseThan status: Int,
        on connection: ScriptedServer.Connection
    ) throws {
        var count = 0
        while true {
            let frame = try connection.receiveFrame()
            let ends = frame.flags & HTTP2Frame.endStream != 0
            if frame.kind == .settings, !ends { try connection.send([.settingsAnswer]) }
            guard frame.kind == .headers || frame.kind == .data else { continue }
            if frame.kind == .headers { heads.withLock { $0 += 1 } }
            if heads.withLock({ $0 }) == 1 {
                if frame.kind == .headers { try connection.send([.head(status, on: frame.stream, endsStream: true)]) }
                continue
            }
            count += frame.kind == .data ? frame.payload.count : 0
            guard ends else { continue }
            contents.withLock { [count] in $0.append(count) }
            try connection.send([.head(202, on: frame.stream), .data("ok", on: frame.stream, endsStream: true)])
        }
    }
}
