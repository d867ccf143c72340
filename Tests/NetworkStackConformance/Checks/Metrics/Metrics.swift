import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The metrics of a response.
    static let metrics: [ConformanceCheck] = [
        ConformanceCheck("The metrics count body bytes after decompression", needs: [.network, .decompression]) {
            subject in
            let server = try ScriptedServer.responding { _ in
                .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")])
            }
            let fetched = try await subject.client().get(server.url())
            try expectEqual(fetched.response.metrics.decodedBytes, Int64(Compressed.text.count), "decoded bytes")
        },
        ConformanceCheck("The metrics report phases, bytes and the connection", needs: [.network, .phaseMetrics]) {
            subject in
            let server = try ScriptedServer.responding { _ in .ok("twelve bytes") }
            let client = try subject.client()
            for isReused in [false, true] {
                let request = try HTTP.Request(method: .PUT, url: server.url(), body: .bytes(Data("seven b".utf8)))
                let metrics = try await client.success(request).response.metrics
                let opening = [metrics.resolved, metrics.connected]
                if isReused { try expectEqual(opening, [nil, nil], "the times of a reused connection") }
                let phases = ((isReused ? [] : opening) + [metrics.firstByte, metrics.total]).map { $0 ?? .zero }
                try expect(phases == phases.sorted(), "The phases are \(phases)")
                try expect(phases.suffix(3).allSatisfy { $0 > .zero }, "The phases are \(phases)")
                try expectEqual(metrics.secured ?? .zero, .zero, "the time of TLS")
                try expectEqual(metrics.bytesSent, 7, "body bytes sent")
                try expectEqual(metrics.bytesReceived, 12, "body bytes received")
                try expect(metrics.headBytesReceived ?? 0 > 17, "The head has \(metrics.headBytesReceived ?? 0) bytes")
                try expectEqual(metrics.remoteAddress, "127.0.0.1", "the server's address")
                try expectEqual(metrics.remotePort, Int(server.port), "the server's port")
                try expectEqual(metrics.isConnectionReused, isReused, "whether the connection was reused")
                try expectEqual(metrics.hopCount, 1, "requests sent")
            }
        },
        ConformanceCheck(
            "The metrics report each response's address of a two-address host",
            needs: [.network, .phaseMetrics, .hostOverrides]
        ) { subject in
            let v4 = try ScriptedServer.responding { _ in .ok("v4") }
            var options = ScriptedServer.Options()
            (options.loopback, options.port) = (.v6, v4.port)
            let v6 = try ScriptedServer(options) { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nv6"), .close]
            }
            let client = try subject.client { configuration in
                configuration.addresses.hostOverrides = [try .init("dual.test:\(v4.port):[::1],127.0.0.1")]
            }
            for address in ["::1", "::1", "127.0.0.1", "127.0.0.1"] {
                if address == "127.0.0.1" { v6.stop() }
                let metrics = try await client.get("http://dual.test:\(v4.port)/").response.metrics
                try expectEqual(metrics.remoteAddress, address, "the server's address")
            }
        },
        ConformanceCheck(
            "The metrics report TLS time, between connecting and the first byte",
            needs: [.network, .phaseMetrics, .customTrustRoots]
        ) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secret") }
            let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
            let metrics = try await client.get(server.url()).response.metrics
            let connected = try reported(metrics.connected, "until the connection was open")
            let secured = try reported(metrics.secured, "until TLS was negotiated")
            let firstByte = try reported(metrics.firstByte, "until the first byte")
            try expect(
                connected < secured && secured <= firstByte,
                "connected after \(connected), secured after \(secured), the first byte after \(firstByte)"
            )
        },
        ConformanceCheck(
            "The metrics report the wait for another fetch's connection",
            needs: [.network, .phaseMetrics, .heldLookups, .http2]
        ) { subject in
            let lookups = try HeldLookups(findingThisMachine: true)
            let tls = try TestCertificates.shared().server
            let server = try ScriptedServer(.init(tls: tls, applicationProtocols: ["h2"])) { _ in
                [.beginHTTP2, .repeat([.answerStream])]
            }
            let stack = try subject.stack { $0.tls.verification = .disabledForTesting }
            let fetches = try (0..<2).map { try stack.observe(server.url("/\($0)", host: lookups.name)) }
            try await lookups.began()
            let held = try await whileAnotherServerAnswers(stack) { lookups.release() }
            for fetch in fetches {
                let metrics = try await fetch.onlyOutcome().value().response.metrics
                let (queue, firstByte) = (metrics.queue ?? .zero, metrics.firstByte ?? .zero)
                try expect(queue + firstByte >= held, "The lookup was held for \(held): \(metrics)")
            }
        },
        ConformanceCheck(
            "The metrics report how long the name lookup took",
            needs: [.network, .phaseMetrics, .heldLookups]
        ) {
            subject in
            let lookups = try HeldLookups(findingThisMachine: true)
            let server = try ScriptedServer.responding { _ in .ok("found") }
            let stack = try subject.stack()
            let fetch = try stack.observe(server.url(host: lookups.name))
            try await lookups.began()
            let held = try await whileAnotherServerAnswers(stack) { lookups.release() }
            let metrics = try await fetch.onlyOutcome().value().response.metrics
            let resolved = try reported(metrics.resolved, "until the name was looked up")
            try expect(resolved >= held, "The lookup was held for \(held), and took \(resolved)")
            let connected = try reported(metrics.connected, "until the connection was open")
            try expect(resolved <= connected && connected <= metrics.total, "\(metrics)")
        },
        ConformanceCheck("The metrics report how long a fetch was queued", needs: [.network]) { subject in
            let bottleneck = try await Bottleneck(subject)
            defer { bottleneck.open() }
            let queued = try bottleneck.stack.observe(bottleneck.server.url("/queued"))
            // It is in the queue before the fetches that come after it are sent.
            let held = try await whileAnotherServerAnswers(bottleneck.stack) { bottleneck.open() }
            let metrics = try await queued.onlyOutcome().value().response.metrics
            let waited = try reported(metrics.queue, "in the queue")
            try expect(waited >= held, "The metrics report \(waited) of waiting, at least \(held) was expected")
            // A clock of whole milliseconds may be one too high.
            try expect(
                waited <= metrics.total + .milliseconds(1),
                "The metrics report \(waited) of waiting and \(metrics.total) in total"
            )
        },
        ConformanceCheck("The metrics report no body bytes for a response without a body", needs: [.network]) {
            subject in
            let server = try ScriptedServer.responding { request in
                request.method == "HEAD"
                    ? .ok(bytes: BytePattern.bytes(500), headers: [("Content-Encoding", "gzip")])
                    : .status(304, headers: [("Content-Encoding", "gzip"), ("Content-Length", "500")])
            }
            let client = try subject.client()
            let asked = try await client.success(HTTP.Request(method: .HEAD, url: server.url()))
            let unmodified = try await client.unsuccessful(HTTP.Request(url: server.url()))
            for metrics in [asked.response.metrics, unmodified.response.metrics] {
                try expectEqual(metrics.bytesReceived, 0, "body bytes received")
                try expect(metrics.headBytesReceived ?? 0 > 40, "The head has \(metrics.headBytesReceived ?? 0) bytes")
            }
        },
        ConformanceCheck("The metrics report the total time, redirects included") { subject in
            let peer = try subject.serve { $0.path.hasSuffix("/start") ? .redirect(to: "/next") : .ok("x") }
            let begun = ContinuousClock.now
            let metrics = try await subject.client().get(peer.url("/start")).response.metrics
            let bound = ContinuousClock.now - begun
            try expect(metrics.total > .zero && metrics.total <= bound, "\(metrics.total) of \(bound)")
            try expectEqual(metrics.hopCount, 2, "requests sent")
        },
    ]

    private static func reported(_ time: Duration?, _ what: String) throws -> Duration {
        guard let time else { throw ConformanceFailure("The metrics do not report the time \(what)") }
        return time
    }

    /// Fetches from another server, and then releases what is held.
    ///
    /// - Returns: How long it was held for at least, less what a clock of whole milliseconds may lose.
    private static func whileAnotherServerAnswers(
        _ stack: ConformanceSubject.Stack,
        release: () -> Void
    ) async throws -> Duration {
        let hasAsked = Gate()
        let other = try ScriptedServer { _ in
            [
                .receiveHead, .open(hasAsked), .pause(.milliseconds(50)),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"),
            ]
        }
        let fetch = try stack.observe(other.url())
        try await hasAsked.opened()
        let since = ContinuousClock.now
        try expectEqual(try await fetch.onlyOutcome().text(), "other", "the fetch from another server")
        let held = ContinuousClock.now - since
        release()
        return .milliseconds(Int64(held / .milliseconds(1)) - 1)
    }
}
