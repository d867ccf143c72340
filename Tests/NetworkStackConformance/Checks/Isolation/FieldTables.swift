import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Names of fields that are dropped, withheld or refused: every member of each table, from the standards' lists.
    static let nameTables: [ConformanceCheck] = droppedFields + refusedFields

    /// Fields that describe content, or a representation that is sent (RFC 9110 sections 8 and 15.4; RFC 9530).
    private static let contentFields: [HTTP.HeaderName] = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Length", "Content-Range",
        "Content-Disposition", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "Last-Modified", "Trailer",
        "Expect",
    ]

    /// Fields that belong to an origin or to a proxy (RFC 9110 section 15.4).
    private static let originFields: [HTTP.HeaderName] = ["Authorization", "Cookie", "Proxy-Authorization", "Host"]

    /// Fields that frame, route, modify or authenticate a message, or describe its coding (RFC 9110 section 6.5.1; RFC 7230
    /// section 4.1.2 has the list).
    private static let fieldsOfHeads: [HTTP.HeaderName] = [
        "Transfer-Encoding", "Content-Length", "Host", "Cache-Control", "Expect", "Max-Forwards", "Pragma", "Range",
        "TE",
        "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Authorization",
        "Proxy-Authorization", "Cookie", "Set-Cookie", "Content-Encoding", "Content-Type", "Content-Range", "Trailer",
        "Connection", "Keep-Alive", "Proxy-Connection", "Upgrade",
    ]

    private static let droppedFields: [ConformanceCheck] = [
        ConformanceCheck("A redirect that becomes a GET drops every content field", rests: [.rfc(9110, "15.4")]) {
            subject in
            for (code, method) in [(301, HTTP.Method.POST), (302, .POST), (303, .POST), (303, .PUT), (303, "PATCH")] {
                let request = try await redirected(subject, code, method, contentFields, to: { _ in "/next" })
                let kept = contentFields.filter { request[$0.rawValue] != nil }
                try expectEqual(kept, [], "fields after a \(code) to \(method)")
                try expectEqual(request["X-Stays"], "1", "a field unrelated to the body")
                try expectEqual(request.method, "GET", "the method")
            }
        },
        ConformanceCheck("A redirect that keeps its method keeps every content field", rests: [.rfc(9110, "15.4")]) {
            subject in
            for (code, method) in [(307, HTTP.Method.POST), (308, .PUT), (301, .PUT)] {
                let request = try await redirected(subject, code, method, contentFields, to: { _ in "/next" })
                let dropped = contentFields.filter { request[$0.rawValue] == nil && $0 != .expect }
                try expectEqual(dropped, [], "fields that a \(code) to \(method) drops")
            }
        },
        ConformanceCheck(
            "A redirect to another origin drops every secret field",
            needs: [.network, .hostHeader],
            rests: [.rfc(9110, "15.4")]
        ) {
            subject in
            let secrets = originFields + ["X-Secret"]
            let other = try ScriptedServer.responding { _ in .ok("other") }
            for code in [301, 302, 303, 307, 308] {
                let before = other.requests.count
                _ = try? await redirected(subject, code, .GET, secrets) { _ in other.url("/next") }
                let request = try sole(other.requests[before...])
                let kept = secrets.filter { request.values(of: $0.rawValue).contains("secret.test") }
                try expectEqual(kept, [], "fields after a \(code)")
                try expectEqual(request["X-Stays"], "1", "a field without a secret")
            }
        },
    ]

    private static let refusedFields: [ConformanceCheck] = [
        ConformanceCheck("A field required in the head is refused as a trailer", rests: [.rfc(9110, "6.5.1")]) {
            subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            for name in fieldsOfHeads {
                var stream = HTTP.Body.Stream(length: nil) { AsyncStream<Data> { $0.finish() } }
                stream.trailers = .init([name]) { [:] }
                let request = try HTTP.Request(method: .PUT, url: peer.url("/"), body: .stream(stream))
                guard case .invalidRequest = try await client.outcome(of: request).refusal() else {
                    throw ConformanceFailure("\(name) is not refused as invalid")
                }
            }
            try expectEqual(peer.requests().count, 0, "requests")
        },
        ConformanceCheck("Every field that would change the framing is refused") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let fields: [(HTTP.HeaderName, [String])] = [
                ("Transfer-Encoding", ["chunked", "identity", "gzip, chunked", ""]),
                ("Upgrade", ["h2c", "websocket"]),
                ("Content-Length", ["0", "8", "+7", "7, 7", "-1", "seven", ""]),
                ("Connection", ["upgrade", "X-Stays", "close, X-Stays", "transfer-encoding", ""]),
            ]
            for (name, values) in fields {
                for value in values {
                    let request = try HTTP.Request(
                        method: .PUT,
                        url: peer.url("/"),
                        headers: HTTP.Headers([.init(name: name, value: value)]),
                        body: .bytes(Data("content".utf8))
                    )
                    guard case .invalidRequest = try await client.outcome(of: request).refusal() else {
                        throw ConformanceFailure("\(name): \(value) is not refused as invalid")
                    }
                }
            }
            try expectEqual(peer.requests().count, 0, "requests")
        },
        ConformanceCheck(
            "No connection-specific field is sent over HTTP/2",
            needs: needsHTTP2,
            rests: [.rfc(9113, "8.2.2")]
        ) { subject in
            let (nghttpd, client) = try await nghttpd(subject)
            // RFC 9113 section 8.2.2. Fields that the client refuses are not sent, either.
            let fields: [(HTTP.HeaderName, String)] = [
                ("Connection", "close"), ("Connection", "keep-alive"), ("Keep-Alive", "timeout=5"),
                ("Proxy-Connection", "keep-alive"), ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"),
                ("Connection", "te"), ("TE", "gzip"),
            ]
            for (name, value) in fields {
                let headers: HTTP.Headers = HTTP.Headers([.init(name: name, value: value)])
                _ = try await client.outcome(of: HTTP.Request(url: nghttpd.url("/json"), headers: headers))
            }
            _ = try await client.get(nghttpd.url("/text"), headers: ["X-Last": "1"])
            try await eventually("nghttpd logs the last field") { nghttpd.log.lowercased().contains("x-last: 1") }
            let log = nghttpd.log.lowercased()
            let seen = fields.filter { log.contains(") \($0.rawValue.lowercased()): \($1)") }
            try expect(seen.isEmpty, "Connection-specific fields were sent over HTTP/2: \(seen)")
        },
    ]

    /// Sends a request with fields to a server that redirects it.
    ///
    /// - Returns: The next request at that server.
    private static func redirected(
        _ subject: ConformanceSubject,
        _ code: Int,
        _ method: HTTP.Method,
        _ names: [HTTP.HeaderName],
        to target: @escaping @Sendable (String) -> String
    ) async throws -> ReceivedRequest {
        let peer = try subject.serve { request in
            request.path.hasSuffix("/start") ? .redirect(code, to: target(request.path)) : .ok("done")
        }
        var options = HTTP.Options()
        options.addSensitiveHeaders("X-Secret")
        let hasContent = method != .GET
        var headers: HTTP.Headers = ["X-Stays": "1"]
        for name in names { headers[name] = name == .contentLength ? "7" : name == .expect ? "x" : "secret.test" }
        let request = try HTTP.Request(
            method: method,
            url: peer.url("/start"),
            headers: headers,
            body: hasContent ? .bytes(Data("content".utf8)) : .none
        )
        _ = try await subject.client().success(request, options: options)
        return try sole(peer.requests().dropFirst())
    }

    private static func sole(_ requests: some Collection<ReceivedRequest>) throws -> ReceivedRequest {
        guard let request = requests.first, requests.count == 1 else {
            throw ConformanceFailure("Expected one request, saw \(requests.count)")
        }
        return request
    }
}
