import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Servers that send bytes without end, which belong to no body, delay no other fetch.
    static let floods: [ConformanceCheck] = [
        ConformanceCheck(
            "Endless session tickets delay no other fetch",
            needs: [.network, .customTrustRoots]
        ) { subject, scale in
            try await delaysNoOther(subject, scale) { certificates, isReady in
                try ScriptedServer(.init(tls: certificates.server)) { _ in
                    [
                        .receiveHead, .run { connection in try connection.sendTickets(50_000) { isReady.open() } },
                        .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"), .waitForClose,
                    ]
                }
            }
        },
        ConformanceCheck(
            "Endless PING acknowledgements over HTTP/2 delay no other fetch",
            needs: [.network, .customTrustRoots, .http2]
        ) { subject, scale in
            try await delaysNoOther(subject, scale) { certificates, isReady in
                let ping = HTTP2Frame(.ping, flags: HTTP2Frame.endStream, Array("12345678".utf8))
                return try ScriptedServer(.init(tls: certificates.server, applicationProtocols: ["h2"])) { _ in
                    [
                        .beginHTTP2, .receiveStream,
                        .run { connection in
                            try connection.sendRecords(600_000, of: ping.bytes) { isReady.open() }
                        },
                        .send([.head(200, on: 1), .data("done", on: 1, endsStream: true)]), .waitForClose,
                    ]
                }
            }
        },
        ConformanceCheck(
            "Endless chunks of one byte delay no other fetch",
            needs: [.network, .customTrustRoots]
        ) { subject, scale in
            try await delaysNoOther(subject, scale, length: 2_000_004) { _, isReady in
                try ScriptedServer { _ in
                    [
                        .receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                        .open(isReady),
                        .send([[UInt8]](repeating: Array("1\r\na\r\n".utf8), count: 2_000_000).flatMap(\.self)),
                        .send("4\r\ndone\r\n0\r\n\r\n"), .waitForClose,
                    ]
                }
            }
        },
    ]

    /// Fetches from a server that opens a gate before it sends much, and something else meanwhile.
    private static func delaysNoOther(
        _ subject: ConformanceSubject,
        _ scale: Int,
        length: Int = 4,
        from makeServer: (TestCertificates, Gate) throws -> ScriptedServer
    ) async throws {
        let (isReady, certificates) = (Gate(), try TestCertificates.shared())
        let server = try makeServer(certificates, isReady)
        let other = try ScriptedServer.responding { _ in .ok("other") }
        let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
        async let flooded = client.get(server.url("/", host: "localhost"))
        // Making the flood takes the server its time.
        try await isReady.opened(within: .seconds(40))
        for _ in 0..<10 { try await bounded(.milliseconds(500) * scale) { _ = try await client.get(other.url()) } }
        let content = try await flooded.value
        try expectEqual(content.count, length, "bytes")
        try expectBytes(content.suffix(4), "done".utf8)
    }
}
