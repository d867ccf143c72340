import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsTrailers: Set<HTTP.Capability> = [.network, .requestTrailers, .streamedRequestBody]

    /// Fields that follow the body of a request.
    static let requestTrailers: [ConformanceCheck] = [
        ConformanceCheck("Trailers follow the body they were made of and are announced", needs: needsTrailers) {
            subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            for length: Int64? in [nil, 300_000] {
                let content = patternBytes(300_000)
                let sent = Lock(0)
                let chunks = AsyncStream(pieces(of: content)).map { piece in
                    sent.withLock { $0 += piece.count }
                    return piece
                }
                var stream = HTTP.Body.Stream(chunks, length: length)
                stream.trailers = .init(["X-Count", "X-Twice"]) {
                    HTTP.Headers([
                        .init(name: "X-Count", value: "\(sent.withLock { $0 })"), .init(name: "X-Twice", value: "1"),
                        .init(name: "X-Twice", value: ""),
                    ])
                }
                let request = try HTTP.Request(method: .PUT, url: peer.url("/"), body: .stream(stream))
                _ = try await client.success(request)
                // A handle that sent trailers once sends none with the next request.
                let plain = HTTP.Body.stream(.init(AsyncStream([Data("plain".utf8)])))
                _ = try await client.success(HTTP.Request(method: .PUT, url: peer.url("/"), body: plain))
            }
            let requests = peer.requests()
            try expectEqual(requests.count, 4, "requests")
            for index in [0, 2] {
                try expectBytes(requests[index].body, patternBytes(300_000))
                try expectEqual(requests[index].values(of: "Trailer"), ["X-Count, X-Twice"], "Trailer")
                try expectEqual(requests[index].values(of: "Content-Length"), [], "Content-Length")
                let trailers = requests[index].trailers.map { "\($0.name)=\($0.value)" }
                try expectEqual(trailers, ["X-Count=300000", "X-Twice=1", "X-Twice="], "the trailers")
                try expectEqual(requests[index + 1].values(of: "Trailer"), [], "Trailer without trailers")
                try expectEqual(requests[index + 1].trailers.count, 0, "trailers of a request without any")
            }
        },
        ConformanceCheck("Trailers announced by the request are announced once", needs: needsTrailers) {
            subject in
            let peer = try subject.serve { _ in .ok("done") }
            var stream = HTTP.Body.Stream(AsyncStream([Data("content".utf8)]))
            stream.trailers = .init(["X-One", "X-Two"]) { ["X-One": "1", "X-Two": "2"] }
            var request = try HTTP.Request(method: .PUT, url: peer.url("/"), body: .stream(stream))
            request.headers[.trailer] = "X-Two, X-One"
            _ = try await subject.client().success(request)
            try expectEqual(peer.onlyRequest().values(of: "Trailer"), ["X-Two, X-One"], "Trailer")
        },
        ConformanceCheck("Trailers are made anew for a repeated body", needs: needsTrailers) { subject in
            let peer = try subject.serve { request in
                request.path == "/start" ? .redirect(307, to: "/next") : .ok("done")
            }
            let count = Lock(0)
            var stream = HTTP.Body.Stream { AsyncStream([Data("content".utf8)]) }
            stream.trailers = .init(["X-Number"]) {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return ["X-Number": "\(number)"]
            }
            let request = try HTTP.Request(method: .POST, url: peer.url("/start"), body: .stream(stream))
            _ = try await subject.client().success(request)
            try expectEqual(peer.requests().map { $0.trailers.map(\.value) }, [["1"], ["2"]], "the trailers")
        },
        ConformanceCheck("A request with trailers uses HTTP/1.1 over https", needs: needsTrailers.union(needsHTTP2)) {
            subject in
            let (nginx, client) = try await nginx(subject)
            try expectEqual(await client.get(nginx.httpsURL("/json")).response.version, .http2, "without")
            var stream = HTTP.Body.Stream(AsyncStream([Data("content".utf8)]))
            stream.trailers = .init(["X-Checksum"]) { ["X-Checksum": "abc"] }
            let request = try HTTP.Request(method: .PUT, url: nginx.httpsURL("/upload/trailers"), body: .stream(stream))
            var options = HTTP.Options()
            options.allowsEmptyBody = true
            let fetched = try await client.success(request, options: options)
            try expectEqual(fetched.response.version, .http1_1, "the version")
        },
        ConformanceCheck("Trailers over HTTP/2 by prior knowledge are refused", needs: needsTrailers) { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            var options = HTTP.Options()
            options.version = .http2PriorKnowledge
            let request = try HTTP.Request(method: .PUT, url: server.url(), body: .stream(trailing("X-A", "b")))
            let outcome = try await subject.client().outcome(of: request, options: options)
            guard case .unsupported(.requestTrailers, _) = try outcome.refusal() else {
                throw ConformanceFailure("saw \(outcome.summary)")
            }
            try expectEqual(server.snapshot.accepted, 0, "connections")
        },
        ConformanceCheck("Trailers that belong in the head are refused before sending") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            for name: HTTP.HeaderName in ["Content-Length", "Transfer-Encoding", "Host", "Authorization", "a b", ""] {
                let request = try HTTP.Request(method: .PUT, url: peer.url("/"), body: .stream(trailing(name, "1")))
                guard case .invalidRequest = try await client.outcome(of: request).refusal() else {
                    throw ConformanceFailure("\(name) is not refused as invalid")
                }
            }
            try expectEqual(peer.requests().count, 0, "requests")
        },
        ConformanceCheck(
            "Illegal or unannounced trailers fail the request",
            needs: needsTrailers
        ) {
            subject in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let client = try subject.client()
            for fields: HTTP.Headers in [["X-A": "b\r\nX-Forged: 1"], ["X-Other": "b"]] {
                var stream = HTTP.Body.Stream(AsyncStream([Data("content".utf8)]))
                stream.trailers = .init(["X-A"]) { fields }
                let request = try HTTP.Request(method: .PUT, url: server.url(), body: .stream(stream))
                guard case .requestBody = try await client.outcome(of: request).refusal() else {
                    throw ConformanceFailure("\(fields) did not fail the request")
                }
            }
            try await server.sees("the end of the connections") { $0.open == 0 }
        },
        ConformanceCheck("Trailers are refused if they are unsupported", needs: [.network]) { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let request = try HTTP.Request(method: .PUT, url: peer.url("/"), body: .stream(trailing("X-A", "b")))
            let outcome = try await client.outcome(of: request)
            if client.stack.capabilities.supports(.requestTrailers) {
                _ = try outcome.value()
            } else {
                guard case .unsupported(.requestTrailers, _) = try outcome.refusal() else {
                    throw ConformanceFailure("saw \(outcome.summary)")
                }
                try expectEqual(peer.requests().count, 0, "requests")
            }
        },
    ]

    private static func trailing(_ name: HTTP.HeaderName, _ value: String) -> HTTP.Body.Stream {
        var stream = HTTP.Body.Stream(AsyncStream([Data("content".utf8)]))
        stream.trailers = .init([name]) { HTTP.Headers([.init(name: name, value: value)]) }
        return stream
    }
}
