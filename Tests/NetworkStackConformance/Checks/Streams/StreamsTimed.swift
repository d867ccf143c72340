import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The idle timeout of streamed bodies.
    static let streamsTimed: [ConformanceCheck] =
        idleStreams + ["gzip", "deflate", "br", "zstd"].map(withoutContentYet)

    private static let idleStreams: [ConformanceCheck] = [
        ConformanceCheck("The idle timeout ends a stalled stream", needs: [.network]) { subject, scale in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome"), .waitForClose]
            }
            let client = try subject.streaming { $0.options.timeouts.idle = .milliseconds(800) * scale }
            let start = ContinuousClock.now
            let opened = try await client.open(server.url())
            let error = try await streamFailure { _ = try await opened.value.collect() }
            try expect("\(error)".contains("idle timeout"), "Expected the idle timeout, saw \(error)")
            try expect(start.duration(to: .now) >= .milliseconds(800) * scale, "The idle timeout fired early")
            try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
        },
        ConformanceCheck("A timeout within a stream has the bytes that came", needs: [.network]) { subject, scale in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome"), .waitForClose]
            }
            let client = try subject.streaming { $0.options.timeouts.idle = .milliseconds(800) * scale }
            let opened = try await client.open(server.url())
            let error = try await streamFailure { _ = try await opened.value.collect() }
            let metrics = (error as? any HTTPError)?.context?.metrics
            try expectEqual(metrics?.bytesReceived, 4, "bytes received")
        },
        ConformanceCheck(
            "A timeout within a compressed stream has the bytes that came",
            needs: [.network, .decompression]
        ) { subject, scale in
            // A gzip header and a stored block, whose bytes are not compressed. One more byte decodes to nothing.
            let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
            let block = [0, 0x20, 0x4e, 0xdf, 0xb1] + Array(BytePattern.bytes(20_000))
            let server = try ScriptedServer { _ in
                [
                    .receiveHead,
                    .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 90000\r\n\r\n"),
                    .send(header + block), .pause(.milliseconds(300) * scale), .send([0]), .waitForClose,
                ]
            }
            let client = try subject.streaming { $0.options.timeouts.idle = .milliseconds(800) * scale }
            let opened = try await client.open(server.url())
            let error = try await streamFailure { _ = try await opened.value.collect() }
            let metrics = (error as? any HTTPError)?.context?.metrics
            try expectEqual(metrics?.bytesReceived, 20_000, "bytes received")
        },
        ConformanceCheck(
            "The idle timeout waits for a stream's reader, then for the server",
            needs: [.network, .backPressure]
        ) { subject, scale in
            // The shorter body has arrived when its reader begins.
            for count in [256 * 1024 + 1, 2 << 20] {
                let server = try ScriptedServer { _ in
                    [
                        .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n"), .sendPattern(count),
                        .waitForClose,
                    ]
                }
                let silent = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
                let client = try subject.streaming { $0.options.timeouts.idle = .milliseconds(800) * scale }
                let opened = try await client.open(server.url())
                // As long as three other timeouts take to fire.
                for _ in 1...3 {
                    guard case .failure(let error) = try await client.outcome(of: silent.url()), error.isTimeout else {
                        throw ConformanceFailure("A silent server opened a stream")
                    }
                }
                let seen = Lock(Data())
                let error = try await streamFailure {
                    for try await chunk in opened.value { seen.withLock { $0 += chunk } }
                }
                try expectBytes(seen.withLock { $0 }, BytePattern.bytes(count))
                try expect("\(error)".contains("idle timeout"), "Expected the idle timeout, saw \(error)")
            }
        },
    ]

    /// The first 38 bytes of each sample are tables: they decode to nothing.
    private static func withoutContentYet(_ coding: String) -> ConformanceCheck {
        ConformanceCheck(
            "Undecoded \(coding) bytes of a stream reset the idle timeout",
            // Other stacks get the body only after decompression.
            needs: [.network, .decompression, .decompressionRatio]
        ) { subject, scale in
            let content = Compressed.byCoding[coding] ?? []
            let server = try ScriptedServer.responding { request in
                guard offers(coding, request) else { return .ok(bytes: Compressed.text) }
                let fields = "Content-Encoding: \(coding)\r\nContent-Length: \(content.count)\r\n\r\n"
                return .steps([
                    .send("HTTP/1.1 200 OK\r\n" + fields),
                    .drip(Array(content.prefix(38)), every: .milliseconds(40) * scale),
                    .send(Array(content.dropFirst(38))),
                ])
            }
            let idle = Duration.milliseconds(500) * scale
            let client = try subject.client { $0.options.timeouts.idle = idle }
            async let collected = client.get(server.url())
            let opened = try await subject.streaming { $0.options.timeouts.idle = idle }.open(server.url())
            let streamed = try await bounded(.seconds(30)) { try await opened.value.collect() }
            try expectBytes(streamed, Compressed.text, "the body, streamed")
            try expectBytes(await collected.value, Compressed.text, "the body, collected")
            try needsOffer(of: coding, in: server.requests)
        }
    }
}
