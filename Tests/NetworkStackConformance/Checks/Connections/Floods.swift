import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Servers that send endless bytes outside of a body delay no other fetch.
    static let floods: [ConformanceCheck] = [
        ConformanceCheck(
            "Endless session tickets delay no other fetch",
            needs: [.network, .customTrustRoots],
            keepsProcessorsBusy: true
        ) { subject, scale in
            try await delaysNoOther(subject, .milliseconds(500) * scale) { certificates, isReady in
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
            needs: [.network, .customTrustRoots, .http2],
            keepsProcessorsBusy: true
        ) { subject, scale in
            let (count, clock) = try await readable(600_000, by: subject, from: serverOfPings)
            try await delaysNoOther(subject, clock * scale) { try serverOfPings(count, $0, $1) }
        },
        ConformanceCheck(
            "Endless chunks of one byte delay no other fetch",
            needs: [.network, .customTrustRoots],
            keepsProcessorsBusy: true
        ) { subject, scale in
            let (count, clock) = try await readable(2_000_000, by: subject, from: serverOfChunks)
            try await delaysNoOther(subject, clock * scale, length: count + 4) { try serverOfChunks(count, $0, $1) }
        },
    ]

    /// The number of pieces of a flood that the stack reads within half of a fetch's limit: a slow stack reads fewer. And the
    /// longest wait of another fetch: that for a tenth of the flood, or half a second.
    private static func readable(
        _ most: Int,
        by subject: ConformanceSubject,
        from makeServer: (Int, TestCertificates, Gate) throws -> ScriptedServer
    ) async throws -> (count: Int, clock: Duration) {
        let (few, certificates) = (most / 400, try TestCertificates.shared())
        let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
        var time = Duration.zero
        // The first fetch takes longer than its flood.
        for pieces in [1, few] {
            let server = try makeServer(pieces, certificates, Gate())
            let began = ContinuousClock.now
            _ = try await client.get(server.url("/", host: "localhost"))
            time = .now - began
        }
        return (min(most, Int(Double(few) * (.seconds(15) / time))), max(.milliseconds(500), time * 40))
    }

    private static func serverOfPings(
        _ count: Int,
        _ certificates: TestCertificates,
        _ isReady: Gate
    ) throws -> ScriptedServer {
        let ping = HTTP2Frame(.ping, flags: HTTP2Frame.endStream, Array("12345678".utf8))
        return try ScriptedServer(.init(tls: certificates.server, applicationProtocols: ["h2"])) { _ in
            [
                .beginHTTP2, .receiveStream,
                .run { connection in try connection.sendRecords(count, of: ping.bytes) { isReady.open() } },
                .send([.head(200, on: 1), .data("done", on: 1, endsStream: true)]), .waitForClose,
            ]
        }
    }

    private static func serverOfChunks(
        _ count: Int,
        _: TestCertificates,
        _ isReady: Gate
    ) throws -> ScriptedServer {
        try ScriptedServer { _ in
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .open(isReady),
                .send([[UInt8]](repeating: Array("1\r\na\r\n".utf8), count: count).flatMap(\.self)),
                .send("4\r\ndone\r\n0\r\n\r\n"), .waitForClose,
            ]
        }
    }

    /// Fetches from a server that opens a gate before it sends a flood, and another resource meanwhile.
    private static func delaysNoOther(
        _ subject: ConformanceSubject,
        _ clock: Duration,
        length: Int = 4,
        from makeServer: (TestCertificates, Gate) throws -> ScriptedServer
    ) async throws {
        let (isReady, certificates) = (Gate(), try TestCertificates.shared())
        let server = try makeServer(certificates, isReady)
        let other = try ScriptedServer.responding { _ in .ok("other") }
        let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
        async let flooded = client.get(server.url("/", host: "localhost"))
        // The server needs time to make the flood.
        try await isReady.opened(within: .seconds(40))
        for _ in 0..<10 { try await bounded(clock) { _ = try await client.get(other.url()) } }
        let content = try await flooded.value
        try expectEqual(content.count, length, "bytes")
        try expectBytes(content.suffix(4), "done".utf8)
    }
}
