import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Methods arrive as written, with the framing fields that their kind requires and no others.
    static let methods: [ConformanceCheck] =
        ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"].map(arrives)
        + ["PROPFIND", "M-SEARCH", "UNKNOWN", "unknown", "!#$%&'*+-.^_`|~09"].map(arrives)
        + ["get", "Post"].map { arrives($0, needs: [.init(rawValue: "well-known methods in another case")]) }
        + ["POST", "PUT", "PATCH"].map(sendsLengthZero)
        + ["GET", "HEAD", "OPTIONS"].map(sendsNoContentFields)
        + [
            ConformanceCheck("The response to HEAD has no body, whatever its length", rests: [.rfc(9110, "9.3.2")]) {
                subject in
                let peer = try subject.serve { _ in .ok("twelve bytes") }
                let fetched = try await subject.client().success(HTTP.Request(method: .HEAD, url: peer.url("/head")))
                try expectEqual(fetched.value.count, 0, "the body")
                try expectEqual(fetched.response.headers[.contentLength], "12", "the length that GET would have")
            },
            ConformanceCheck("The connection is used again after HEAD", needs: [.network]) { subject in
                let peer = try subject.serve { _ in .ok("twelve bytes") }
                let client = try subject.client()
                _ = try await client.success(HTTP.Request(method: .HEAD, url: peer.url("/head")))
                let fetched = try await client.get(peer.url("/get"))
                try expectBytes(fetched.value, "twelve bytes".utf8)
                try expectEqual(peer.requests().map(\.connectionIndex), [0, 0], "the connections")
            },
            ConformanceCheck(
                "A method never carries over to the next fetch over TLS",
                needs: [.network, .customTrustRoots]
            ) { subject in
                let (server, client) = try await nginx(subject)
                for method in [HTTP.Method.DELETE, .GET, .HEAD, .GET, .OPTIONS, .GET, .POST, .GET] {
                    let request = try HTTP.Request(method: method, url: server.httpsURL("/echo"))
                    let echo = String(decoding: try await client.success(request).value, as: UTF8.self)
                    try expect(method == .HEAD || echo.hasPrefix("\(method) /echo "), "\(method) arrived as \(echo)")
                }
            },
            ConformanceCheck("No content type is added for a body") { subject in
                let peer = try subject.serve { _ in .ok("done") }
                let client = try subject.client()
                for method in [HTTP.Method.POST, .PUT, .PATCH] {
                    let body = HTTP.Body.bytes(Data("a=b".utf8))
                    _ = try await client.success(HTTP.Request(method: method, url: peer.url("/"), body: body))
                }
                try expectEqual(peer.requests().flatMap { $0.values(of: "Content-Type") }, [], "content types")
            },
            ConformanceCheck("A large body is sent without Expect: 100-continue") { subject in
                let peer = try subject.serve { _ in .ok("done") }
                let body = HTTP.Body.bytes(patternBytes(2 << 20))
                _ = try await subject.client().success(HTTP.Request(method: .POST, url: peer.url("/"), body: body))
                try expectEqual(peer.requests().first?.values(of: "Expect"), [], "Expect")
            },
            ConformanceCheck("An empty body is announced where its method may have one", needs: [.network]) {
                subject in
                let peer = try subject.serve { _ in .ok("done") }
                let client = try subject.client()
                let methods: [HTTP.Method] = [.OPTIONS, "PROPFIND", .GET, .DELETE]
                for method in methods {
                    _ = try await client.success(
                        HTTP.Request(method: method, url: peer.url("/"), body: .bytes(Data()))
                    )
                }
                let lengths = peer.requests().map { $0.values(of: "Content-Length") }
                try expectEqual(Array(lengths.prefix(2)), [["0"], ["0"]], "Content-Length")
                // Without the field, these two have no body either (RFC 9110 section 8.6).
                try expectEqual(lengths.suffix(2).flatMap(\.self).filter { $0 != "0" }, [], "Content-Length")
            },
            ConformanceCheck("A request without a body waits for no 100 Continue", needs: [.network]) {
                subject in
                let peer = try subject.serve { _ in .ok("done") }
                for method in [HTTP.Method.GET, .POST] {
                    let request = try HTTP.Request(
                        method: method,
                        url: peer.url("/"),
                        headers: [.expect: "100-continue"]
                    )
                    _ = try await subject.client().success(request)
                }
                try expectEqual(peer.requests().map { $0.values(of: "Expect") }, [[], []], "Expect")
            },
            ConformanceCheck("DELETE can have a body") { subject in
                let peer = try subject.serve { _ in .ok("done") }
                let body = HTTP.Body.bytes(Data("which".utf8))
                _ = try await subject.client().success(HTTP.Request(method: .DELETE, url: peer.url("/"), body: body))
                let request = try peer.onlyRequest()
                try expectEqual(request.method, "DELETE", "the method")
                try expectEqual(request.text, "which", "the body")
            },
        ]

    private static func arrives(_ name: String) -> ConformanceCheck { arrives(name, needs: []) }

    private static func arrives(_ name: String, needs: Set<HTTP.Capability>) -> ConformanceCheck {
        ConformanceCheck("The method \(name) arrives as it was written", needs: needs) { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let method = HTTP.Method(rawValue: name)
            let fetched = try await subject.client().success(HTTP.Request(method: method, url: peer.url("/method?a=b")))
            let request = try peer.onlyRequest()
            try expectEqual(request.method, name, "the method")
            try expect(request.target.hasSuffix("/method?a=b"), "The target is \(request.target)")
            try expectBytes(fetched.value, (method == .HEAD ? "" : "done").utf8)
        }
    }

    private static func sendsLengthZero(_ name: String) -> ConformanceCheck {
        ConformanceCheck("\(name) without a body sends Content-Length: 0") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let method = HTTP.Method(rawValue: name)
            for body in [HTTP.Body.none, .bytes(Data())] {
                _ = try await client.success(HTTP.Request(method: method, url: peer.url("/"), body: body))
            }
            for request in peer.requests() {
                try expectEqual(request.values(of: "Content-Length"), ["0"], "Content-Length")
                try expectEqual(request.values(of: "Transfer-Encoding"), [], "Transfer-Encoding")
            }
            try expectEqual(peer.requests().count, 2, "requests")
        }
    }

    private static func sendsNoContentFields(_ name: String) -> ConformanceCheck {
        ConformanceCheck("\(name) without a body sends no content fields") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            _ = try await subject.client().success(HTTP.Request(method: .init(rawValue: name), url: peer.url("/")))
            let request = try peer.onlyRequest()
            for field in ["Content-Length", "Transfer-Encoding", "Content-Type", "Expect"] {
                try expectEqual(request.values(of: field), [], field)
            }
        }
    }
}

extension ConformancePeer {
    /// The only request that the server received.
    func onlyRequest(file: StaticString = #fileID, line: UInt = #line) throws -> ReceivedRequest {
        let requests = requests()
        guard let first = requests.first, requests.count == 1 else {
            throw ConformanceFailure("expected one request, the server received \(requests)", file: file, line: line)
        }
        return first
    }
}
