import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// What a response tells of its fetch.
    static let metrics: [ConformanceCheck] = [
        ConformanceCheck("The metrics tell phases, bytes and the connection", needs: [.network, .phaseMetrics]) {
            subject in
            let server = try ScriptedServer.responding { _ in .ok("twelve bytes") }
            let client = try subject.client()
            for isReused in [false, true] {
                let request = try HTTP.Request(method: .PUT, url: server.url(), body: .bytes(Data("seven b".utf8)))
                let metrics = try await client.success(request).response.metrics
                // A connection that was open already took no time to open.
                let opening = isReused ? [] : [metrics.resolved, metrics.connected]
                let phases = (opening + [metrics.firstByte, metrics.total]).map { $0 ?? .zero }
                try expect(phases == phases.sorted(), "the phases are \(phases)")
                try expect(phases.suffix(3).allSatisfy { $0 > .zero }, "the phases are \(phases)")
                try expectEqual(metrics.secured ?? .zero, .zero, "the time of TLS")
                try expectEqual(metrics.bytesSent, 7, "bytes of content sent")
                try expectEqual(metrics.bytesReceived, 12, "bytes of content received")
                try expect(metrics.headBytesReceived ?? 0 > 17, "The head has \(metrics.headBytesReceived ?? 0) bytes")
                try expectEqual(metrics.remoteAddress, "127.0.0.1", "the server's address")
                try expectEqual(metrics.remotePort, Int(server.port), "the server's port")
                try expectEqual(metrics.isConnectionReused, isReused, "whether the connection was open")
                try expectEqual(metrics.hopCount, 1, "requests sent")
            }
        },
        ConformanceCheck("What a fetch took is told in all, redirects included") { subject in
            let peer = try subject.serve { $0.path.hasSuffix("/start") ? .redirect(to: "/next") : .ok("x") }
            let begun = ContinuousClock.now
            let metrics = try await subject.client().get(peer.url("/start")).response.metrics
            let bound = ContinuousClock.now - begun
            try expect(metrics.total > .zero && metrics.total <= bound, "\(metrics.total) of \(bound)")
            try expectEqual(metrics.hopCount, 2, "requests sent")
        },
    ]
}
