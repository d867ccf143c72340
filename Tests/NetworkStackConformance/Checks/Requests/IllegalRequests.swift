import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// An illegal request is refused with a sentence before anything is sent.
    static let refusals: [ConformanceCheck] =
        illegalHeads + headsTooLong + illegalFraming + illegalURLs + unsupportedRequests

    private static let illegalHeads: [ConformanceCheck] =
        [
            ("a line break", "X-A\r\nX-Injected"), ("a carriage return", "X-A\rB"), ("a line feed", "X-A\nB"),
            ("a NUL", "X-A\0"), ("a space", "X A"), ("a trailing space", "X-A "), ("a colon", "X-A: b"),
            ("a byte beyond ASCII", "X-Größe"), ("a tab", "\tX-A"), ("nothing in it", ""),
            ("a delete character", "X\u{7F}"),
        ].map { what, name in
            refused("A header name with \(what)") { try .init(url: $0, headers: [HTTP.HeaderName(name): "value"]) }
        }
        + [
            ("a line break", "a\r\nX-Injected: yes"), ("a carriage return", "a\rb"), ("a line feed", "a\nb"),
            ("a NUL", "a\0b"),
            ("a trailing line break", "a\r\n"),
            ("a whole request", "a\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"),
            ("an escape character", "a\u{1B}b"), ("a delete character", "a\u{7F}"),
        ].map { what, value in
            refused("A header value with \(what)") { try .init(url: $0, headers: ["X-A": value]) }
        }
        + [
            ("a line break", "GET / HTTP/1.1\r\nX: "), ("a line feed", "GE\nT"), ("a NUL", "GET\0"),
            ("a space", "GET /x"),
            ("nothing in it", ""), ("a byte beyond ASCII", "GÉT"), ("a slash", "GET/"), ("the name CONNECT", "CONNECT"),
        ].map { what, name in
            refused("A method with \(what)") { try .init(method: HTTP.Method(rawValue: name), url: $0) }
        }
        + [
            ConformanceCheck("An invalid user agent is refused with the configuration") { subject in
                do {
                    _ = try subject.stack { $0.userAgent = "agent\r\nX-Injected: yes" }
                } catch Network.ConfigurationError.invalid {
                    return
                }
                throw ConformanceFailure("The configuration was accepted")
            },
            ConformanceCheck("A refused request opens no connection", needs: [.network]) { subject in
                let server = try ScriptedServer.responding { _ in .ok("done") }
                let client = try subject.client()
                let url = server.url()
                for request in [
                    try HTTP.Request(method: "GET /x", url: url),
                    try HTTP.Request(url: url, headers: ["X-A": "a\r\nb"]),
                    try HTTP.Request(url: url, headers: ["X A": "a"]), try HTTP.Request(method: "", url: url),
                    try HTTP.Request(url: url, headers: [.transferEncoding: "chunked"]),
                ] {
                    _ = try await client.refusal(request)
                }
                _ = try await client.get(url)
                try expectEqual(server.snapshot.accepted, 1, "connections")
            },
        ]

    private static let illegalFraming: [ConformanceCheck] = [
        refused("A Content-Length that is too long") {
            try .init(method: .POST, url: $0, headers: [.contentLength: "6"], body: .bytes(Data("hello".utf8)))
        },
        refused("A Content-Length that is too short") {
            try .init(method: .POST, url: $0, headers: [.contentLength: "4"], body: .bytes(Data("hello".utf8)))
        },
        refused("A Content-Length without a body") { try .init(url: $0, headers: [.contentLength: "77"]) },
        refused("A Content-Length that is no number") {
            try .init(method: .POST, url: $0, headers: [.contentLength: "five"], body: .bytes(Data("hello".utf8)))
        },
        refused("A negative Content-Length") { try .init(method: .POST, url: $0, headers: [.contentLength: "-1"]) },
        refused("A Content-Length for a stream of unknown length") {
            let body = HTTP.Body.stream(.init(AsyncStream([Data("hello".utf8)])))
            return try .init(method: .POST, url: $0, headers: [.contentLength: "5"], body: body)
        },
        refused("A Transfer-Encoding") {
            try .init(method: .POST, url: $0, headers: [.transferEncoding: "chunked"], body: .bytes(Data("hello".utf8)))
        },
        refused("A Transfer-Encoding in lower case") {
            try .init(url: $0, headers: ["transfer-encoding": "identity"])
        },
        refused("A second Host") { url in
            var headers: HTTP.Headers = [.host: "a.test"]
            headers.append("b.test", for: "host")
            return try .init(url: url, headers: headers)
        },
        refused("An Upgrade") { try .init(url: $0, headers: [.upgrade: "h2c", .connection: "Upgrade"]) },
        refused("A Connection that names other fields") { try .init(url: $0, headers: [.connection: "close, X-A"]) },
        refused("HEAD with a body") { try .init(method: .HEAD, url: $0, body: .bytes(Data("hello".utf8))) },
        refused("TRACE with a body") { try .init(method: .TRACE, url: $0, body: .bytes(Data("hello".utf8))) },
    ]

    private static func refused(
        _ what: String,
        _ make: @escaping @Sendable (String) throws -> HTTP.Request
    ) -> ConformanceCheck {
        ConformanceCheck("\(what) is refused before sending") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let refusal = try await client.refusal(make(peer.url("/refused")))
            guard case .invalidRequest(let reason) = refusal else {
                throw ConformanceFailure("expected an invalid request, saw \(refusal)")
            }
            try expect(reason.hasSuffix("."), "The reason is no sentence: \(reason)")
            try await peer.expectNothingBefore(client)
        }
    }
}
