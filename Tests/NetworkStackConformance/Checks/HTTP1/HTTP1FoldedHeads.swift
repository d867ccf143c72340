import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// A continuation line without a line before it.
    static let foldedHeads: [ConformanceCheck] = [
        ConformanceCheck(
            "A head whose first line is folded harms no other fetch",
            needs: [.network, .strictReplies],
            rests: [.rfc(9112, "5.2")]
        ) { subject in
            let folded = "HTTP/1.1 200 OK\r\n X-A: b\r\n\tc\r\nContent-Length: 1\r\nConnection: close\r\n\r\n"
            let hints = "HTTP/1.1 103 Early Hints\r\nX-Before: there\r\n\r\n"
            let server = try ScriptedServer.responding { request in
                let before = request.path == "/hinted" ? hints : ""
                guard request.path != "/" else { return .ok("x", headers: [("X-Before", "there")]) }
                return Reply(head: Array((before + folded).utf8), body: Array("x".utf8), steps: [.close])
            }
            let client = try subject.client()
            // libcurl before 8.1.1 continues the last field of the previous response, which it has freed.
            for number in 1...20 {
                let fetched = try await client.get(server.url())
                try expectEqual(fetched.response.headers["X-Before"], "there", "X-Before")
                let path = number.isMultiple(of: 2) ? "/hinted" : "/folded"
                let outcome = try await client.outcome(of: HTTP.Request(url: server.url(path)))
                guard case .success(let fetched) = outcome else {
                    try outcome.expectBroken()
                    continue
                }
                try expect(
                    !fetched.response.headers.contains("X-Before"),
                    "The response has a field of another response"
                )
            }
            _ = try await client.get(server.url())
        },
        ConformanceCheck(
            "A status line of HTTP/2 in cleartext mixes up no responses",
            needs: [.network, .strictReplies]
        ) { subject in
            let server = try ScriptedServer.responding { request in
                let head = "HTTP/2 200 OK\r\nContent-Length: \(request.path.utf8.count)\r\n\r\n"
                return Reply(head: Array(head.utf8), body: Array(request.path.utf8))
            }
            let client = try subject.client { $0.connections.perHost = 4 }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 100..<160 {
                    group.addTask {
                        let url = server.url("/\(number)")
                        let outcome = try await client.outcome(of: HTTP.Request(url: url))
                        guard case .success(let fetched) = outcome else { return try outcome.expectBroken() }
                        try expectBytes(fetched.value, "/\(number)".utf8)
                    }
                }
                try await group.waitForAll()
            }
        },
        ConformanceCheck(
            "A body whose coding is on a folded line is decoded",
            needs: [.network, .strictReplies, .nonconformingHeads],
            rests: [.rfc(9112, "5.2")]
        ) { subject in
            let head =
                "HTTP/1.1 200 OK\r\nContent-Encoding:\r\n gzip\r\nContent-Length: \(Compressed.gzip.count)\r\n\r\n"
            let server = try ScriptedServer.responding { _ in Reply(head: Array(head.utf8), body: Compressed.gzip) }
            try expectBytes(await subject.client().get(server.url()).value, Compressed.text)
        },
        ConformanceCheck(
            "A status line of HTTP/2 over TLS mixes up no responses",
            needs: [.network, .strictReplies, .customTrustRoots]
        ) { subject in
            let certificates = try TestCertificates.shared()
            let (held, arrived) = (Latch(), Gate())
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { request in
                switch request.path {
                case "/liar": return Reply(head: Array("HTTP/2 200 OK\r\nContent-Length: 1\r\n\r\n".utf8), body: [0x78])
                case "/held":
                    arrived.open()
                    held.wait()
                    return .ok("held")
                default: return .ok(request.path)
                }
            }
            defer { held.open() }
            let client = try subject.client {
                $0.tls.trustRoots = .file(path: certificates.caFile)
                $0.options.timeouts.total = .seconds(5)
            }
            _ = try await client.get(server.url())
            async let answer = client.get(server.url("/held"))
            try await arrived.opened()
            let lie = try await client.outcome(of: HTTP.Request(url: server.url("/liar")))
            try lie.expectBroken()
            // libcurl treats the host's other connection, with a pending response, as one of HTTP/2.
            for path in ["/1", "/2"] { try expectBytes(await client.get(server.url(path)).value, path.utf8) }
            held.open()
            try expectBytes(await answer.value, "held".utf8)
        },
    ]
}
