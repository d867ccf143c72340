import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// A response that is too large is stopped as soon as that is known.
    static let limits: [ConformanceCheck] = bodyLimits + headLimits + senselessOptions

    private static let bodyLimits: [ConformanceCheck] = [
        ConformanceCheck("A body announced as too long is refused at its head", needs: [.network]) { subject in
            // The server sends only the head: a client that waits for the body never ends.
            try await stops([.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")], on: subject)
        },
        ConformanceCheck("A chunked body that grows too long is stopped", needs: [.network]) { subject in
            let chunks = String(repeating: "40\r\n\(String(repeating: "x", count: 64))\r\n", count: 16)
            try await stops([.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)], on: subject)
        },
        ConformanceCheck("A body without a length that grows too long is stopped", needs: [.network]) { subject in
            try await stops([.send("HTTP/1.1 200 OK\r\n\r\n"), .sendPattern(1001)], on: subject)
        },
        ConformanceCheck("A flood of body bytes is stopped", needs: [.network, .backPressure]) { subject in
            // A client that keeps reading at full speed would be too busy to stop.
            let chunk = "40\r\n\(String(repeating: "x", count: 64))\r\n"
            try await stops(
                [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .repeat([.send(chunk)])],
                on: subject
            )
            try await stops([.send("HTTP/1.1 200 OK\r\n\r\n"), .repeat([.sendPattern(65_536)])], on: subject)
        },
        ConformanceCheck("An unfollowed redirect's overlong body is refused", needs: [.network]) {
            // Everything arrives at once: the body is not reported before its end.
            let content = String(repeating: "x", count: 1001)
            let peer = try $0.serve { _ in
                .raw("HTTP/1.1 300 Choose\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n\(content)\r\n0\r\n\r\n")
            }
            let client = try $0.client { $0.options.limits.body = 1000 }
            guard case .bodyTooLarge(limit: 1000, _) = try await client.refusal(HTTP.Request(url: peer.url("/"))) else {
                throw ConformanceFailure("expected the body to be refused as too large")
            }
        },
        ConformanceCheck("An error's overlong body is stopped", needs: [.network]) { subject in
            try await stops([.send("HTTP/1.1 500 No\r\n\r\n"), .sendPattern(1001)], on: subject)
        },
        ConformanceCheck("A body that decompresses beyond the limit is refused", needs: [.decompression]) {
            subject in
            try expect(Compressed.bomb.count < 2000, "The compressed body is larger than the limit")
            let peer = try subject.serve { _ in .ok(bytes: Compressed.bomb, headers: [("Content-Encoding", "gzip")]) }
            let client = try subject.client { $0.options.limits.body = 2000 }
            guard case .bodyTooLarge(limit: 2000, _) = try await client.refusal(HTTP.Request(url: peer.url("/"))) else {
                throw ConformanceFailure("expected the body to be refused as too large")
            }
            var options = HTTP.Options()
            options.limits.body = Int64(Compressed.bombSize)
            let fetched = try await client.success(HTTP.Request(url: peer.url("/")), options: options)
            try expectEqual(fetched.value.count, Compressed.bombSize, "the body's length")
        },
        ConformanceCheck("A body of exactly the limit is delivered, one byte more refused") { subject in
            let peer = try subject.serve { .ok(String(repeating: "x", count: Int($0.path.suffix(4)) ?? 0)) }
            let client = try subject.client { $0.options.limits.body = 1000 }
            try expectEqual(await client.get(peer.url("/1000")).value.count, 1000, "the body's length")
            guard case .bodyTooLarge(limit: 1000, _) = try await client.refusal(HTTP.Request(url: peer.url("/1001")))
            else {
                throw ConformanceFailure("expected the body to be refused as too large")
            }
        },
        ConformanceCheck("A chunked body of the limit is delivered, one byte more refused", needs: [.network]) {
            let peer = try $0.serve {
                .chunked([String(repeating: "x", count: 990), $0.path == "/long" ? "0123456789+" : "0123456789"])
            }
            let client = try $0.client { $0.options.limits.body = 1000 }
            try expectEqual(await client.get(peer.url("/right")).value.count, 1000, "the body's length")
            guard case .bodyTooLarge(limit: 1000, _) = try await client.refusal(HTTP.Request(url: peer.url("/long")))
            else {
                throw ConformanceFailure("expected the body to be refused as too large")
            }
        },
        ConformanceCheck("A limit of zero accepts a response without a body") { subject in
            let peer = try subject.serve {
                .status($0.path.hasSuffix("/204") ? 204 : 200, $0.path.hasSuffix("/204") ? "" : "x")
            }
            let client = try subject.client { $0.options.limits.body = 0 }
            _ = try await client.get(peer.url("/204"))
            guard case .bodyTooLarge(limit: 0, _) = try await client.refusal(HTTP.Request(url: peer.url("/200"))) else {
                throw ConformanceFailure("expected the body to be refused as too large")
            }
        },
        ConformanceCheck("The length in a HEAD response does not count against the limit") { subject in
            let peer = try subject.serve { _ in .ok(String(repeating: "x", count: 5000)) }
            let client = try subject.client { $0.options.limits.body = 1000 }
            let fetched = try await client.success(HTTP.Request(method: .HEAD, url: peer.url("/")))
            try expectEqual(fetched.response.headers[.contentLength], "5000", "Content-Length")
        },
        ConformanceCheck("The stack continues after an overlong body", needs: [.network]) { subject in
            let peer = try subject.serve { .ok(String(repeating: "x", count: $0.path == "/long" ? 100_000 : 4)) }
            let client = try subject.client { $0.options.limits.body = 1000 }
            for _ in 1...3 {
                _ = try await client.refusal(HTTP.Request(url: peer.url("/long")))
                try expectEqual(await client.get(peer.url("/short")).value.count, 4, "the body's length")
            }
        },
    ]

    private static let headLimits: [ConformanceCheck] = [
        ConformanceCheck("A head longer than its limit is refused", needs: [.network, .headLimit]) { subject in
            let peer = try subject.serve {
                .ok("done", headers: [("X-Long", String(repeating: "x", count: $0.path == "/long" ? 5000 : 3000))])
            }
            let client = try subject.client { $0.options.limits.head = 4096 }
            _ = try await client.get(peer.url("/short"))
            guard case .headTooLarge = try await client.refusal(HTTP.Request(url: peer.url("/long"))) else {
                throw ConformanceFailure("expected the head to be refused as too large")
            }
        },
        ConformanceCheck("A head that never ends is stopped", needs: [.network, .headLimit]) { subject in
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\n"),
                    .repeat([.send("X-More: and more and more and more\r\n")]),
                ]
            }
            guard case .tooManyFields = try await subject.client().refusal(HTTP.Request(url: server.url())) else {
                throw ConformanceFailure("expected the head to be refused for its fields")
            }
            let client = try subject.client { $0.options.limits.headFields = 1 << 20 }
            // libcurl from 8.6 on has a limit of 5,000 lines.
            switch try await client.refusal(HTTP.Request(url: server.url())) {
            case .headTooLarge, .tooManyFields: break
            case let refusal: throw ConformanceFailure("expected the head to be refused as too large, saw \(refusal)")
            }
            try await server.waitUntil { $0.open == 0 }
        },
        ConformanceCheck("A header line that never ends is stopped", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nX-Long: "),
                    .repeat([.send(String(repeating: "x", count: 4096))]),
                ]
            }
            let error = try await subject.client().failure(HTTP.Request(url: server.url()))
            if subject.capabilities.supports(.headLimit) {
                guard case .headLineTooLong = error else { throw ConformanceFailure("Saw \(error)") }
            }
            try await server.waitUntil { $0.open == 0 }
        },
        ConformanceCheck("A head line that libcurl rejects is refused by libcurl's limit", needs: [.network]) {
            subject in
            let peer = try subject.serve { _ in
                .ok("done", headers: [("X-Long", String(repeating: "x", count: 102_400))])
            }
            for limit in [4 << 20, 50_000] {
                let client = try subject.client { $0.options.limits.head = limit }
                switch try await client.outcome(of: HTTP.Request(url: peer.url("/"))) {
                // A backend without such a limit accepts the line.
                case .success where limit > 102_400: break
                case .failure(.headLineTooLong(let named, _)):
                    try expectEqual(named, 102_400, "the limit of a line")
                    try expect(limit > named, "The head's limit was exceeded before the line's")
                // Another library has another limit.
                case .failure(.headTooLarge(let named, _)):
                    try expect(named <= min(limit, 102_400), "A head of 102,400 bytes is not above \(named)")
                case let outcome: throw ConformanceFailure("Saw \(outcome.summary)")
                }
            }
        },
        ConformanceCheck("A trailer line of over 4,096 bytes names the limit it exceeds", needs: [.network, .trailers])
        {
            subject in
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Long\r\n\r\n2\r\nok\r\n0\r\n"
            let trailer = "X-Long: \(String(repeating: "x", count: 5000))\r\n\r\n"
            let server = try ScriptedServer { _ in [.receiveHead, .send(head + trailer), .waitForClose] }
            for limit in [1 << 20, 2000] {
                let client = try subject.client { $0.options.limits.head = limit }
                switch try await client.outcome(of: HTTP.Request(url: server.url())) {
                case .failure(.headLineTooLong(4096, _)) where limit > 4096: break
                case .failure(.headTooLarge(limit, _)) where limit < 4096: break
                // A backend without such a limit accepts the line.
                case .success where limit > 5000: break
                case let outcome: throw ConformanceFailure("Saw \(outcome.summary)")
                }
            }
        },
        ConformanceCheck("Informational responses count against the head's limit", needs: [.network, .headLimit]) {
            subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .repeat([.send("HTTP/1.1 103 Early Hints\r\nX-More: and more and more\r\n\r\n")])]
            }
            _ = try await subject.client().failure(HTTP.Request(url: server.url()))
            try await server.waitUntil { $0.open == 0 }
        },
        ConformanceCheck("More header lines than the limit are refused", needs: [.network, .headLimit]) { subject in
            let peer = try subject.serve { request in
                .ok("done", headers: (1..<(Int(request.path.suffix(2)) ?? 0)).map { ("X-Number", "\($0)") })
            }
            // Content-Length is a line as well.
            let client = try subject.client { $0.options.limits.headFields = 50 }
            try expectEqual(await client.get(peer.url("/50")).response.headers.count, 50, "header lines")
            guard case .tooManyFields(limit: 50, _) = try await client.refusal(HTTP.Request(url: peer.url("/51")))
            else {
                throw ConformanceFailure("expected the head to be refused for its fields")
            }
        },
    ]

    private static let senselessOptions: [ConformanceCheck] = [
        senseless("A negative body limit") { $0.limits.body = -1 },
        senseless("A head limit of zero") { $0.limits.head = 0 },
        senseless("A header line limit of zero") { $0.limits.headFields = 0 },
        senseless("A negative redirect limit") { $0.redirects.limit = -1 },
        senseless("A redirect limit of 101") { $0.redirects.limit = 101 },
        senseless("An idle timeout of zero") { $0.timeouts.idle = .zero },
        senseless("A negative total timeout") { $0.timeouts.total = .seconds(-1) },
        senseless("A first-byte timeout of zero") { $0.timeouts.firstByte = .zero },
    ]

    private static func senseless(
        _ what: String,
        _ change: @escaping @Sendable (inout HTTP.Options) -> Void
    ) -> ConformanceCheck {
        ConformanceCheck("\(what) is refused by stack and resource") { subject in
            do {
                _ = try subject.stack { change(&$0.options) }
                throw ConformanceFailure("The configuration was accepted")
            } catch Network.ConfigurationError.invalid {}
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            var options = HTTP.Options()
            change(&options)
            let refusal = try await client.refusal(HTTP.Request(url: peer.url("/")), options: options)
            guard case .invalidRequest = refusal else {
                throw ConformanceFailure("expected invalid options, saw \(refusal)")
            }
            try await peer.expectNothingBefore(client)
        }
    }

    /// Expects a fetch with a body limit of 1000 to be refused for it and its connection closed by the client.
    private static func stops(_ steps: [ScriptedServer.Step], on subject: ConformanceSubject) async throws {
        let server = try ScriptedServer { _ in [.receiveHead] + steps + [.waitForClose] }
        let client = try subject.client { $0.options.limits.body = 1000 }
        guard case .bodyTooLarge(limit: 1000, _) = try await client.refusal(HTTP.Request(url: server.url())) else {
            throw ConformanceFailure("expected the body to be refused as too large")
        }
        let snapshot = try await server.waitUntil { $0.connections.allSatisfy { $0.state != .open } }
        let states = snapshot.connections.map(\.state)
        try expect(states == [.closedByPeer] || states == [.resetByPeer], "the connection: \(states)")
    }
}
