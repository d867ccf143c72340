import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The gauges of a stack.
    static let gauges: [ConformanceCheck] = [
        ConformanceCheck("Gauges count fetches until they end, and their bytes", needs: [.network]) { subject in
            let (arrived, held) = (Gate(), Latch())
            defer { held.open() }
            let server = try ScriptedServer.responding { request in
                if request.path == "/held" {
                    arrived.open()
                    held.wait()
                }
                return .ok("four")
            }
            let stack = try subject.stack()
            try await stack.observe(server.url(), method: .POST, body: .bytes(Data("sixsix".utf8))).onlyOutcome()
                .value()
            var gauges = await stack.gauges
            try expectEqual([gauges.bytesSent, gauges.bytesReceived], [6, 4], "the bytes after one fetch")
            let waiting = try stack.observe(server.url("/held"))
            try await arrived.opened()
            gauges = await stack.gauges
            try expectEqual(gauges.fetches, 1, "the fetches under way")
            held.open()
            try await waiting.onlyOutcome().value()
            try await eventually("no fetch is left") { await stack.gauges.fetches == 0 }
            gauges = await stack.gauges
            try expectEqual([gauges.bytesSent, gauges.bytesReceived], [6, 8], "the bytes after two fetches")
        },
        ConformanceCheck("Gauges keep their bytes after a shutdown", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { _ in .ok("four") }
            let stack = try subject.stack()
            try await stack.observe(server.url()).onlyOutcome().value()
            await stack.shutdown()
            try expectEqual(await stack.gauges.bytesReceived, 4, "the bytes after the shutdown")
        },
        ConformanceCheck("Gauges count requests by origin, active and waiting", needs: [.network]) { subject in
            let held = Latch()
            defer { held.open() }
            let servers = try (0..<2).map { _ in
                try ScriptedServer.responding { _ in
                    held.wait()
                    return .ok("x")
                }
            }
            defer { withExtendedLifetime(servers) {} }
            let stack = try subject.stack { $0.connections.perHost = 2 }
            try expectEqual(await stack.gauges.total, .init(), "requests before the first")
            let fetches = try [0, 0, 0, 0, 0, 1].map { try stack.observe(servers[$0].url()) }
            let origins = try servers.map { try HTTP.Origin(of: HTTP.Request(url: $0.url()).url) }
            try await eventually("all requests are active or wait") {
                let total = await stack.gauges.total
                return (total.active, total.waiting) == (3, 3)
            }
            let gauges = await stack.gauges
            try expectEqual(Set(gauges.origins.keys), Set(origins), "the origins")
            let counts = origins.map { [gauges.origins[$0]?.active, gauges.origins[$0]?.waiting] }
            try expectEqual(counts, [[2, 3], [1, 0]], "active and waiting requests of each origin")
            try expectEqual(gauges.otherOrigins, .init(), "other origins")
            held.open()
            for fetch in fetches { try await fetch.onlyOutcome().value() }
            try await eventually("no request is left") {
                let total = await stack.gauges.total
                return (total.active, total.waiting) == (0, 0)
            }
        },
        ConformanceCheck("Gauges count active and idle connections", needs: [.network, .connectionEvents]) { subject in
            let (arrived, held) = (Gate(), Latch())
            defer { held.open() }
            let server = try ScriptedServer.responding { request in
                if request.path == "/held" {
                    arrived.open()
                    held.wait()
                }
                return .ok("x")
            }
            let stack = try subject.stack()
            try await stack.text(server.url())
            try await eventually("the connection is idle") { await stack.gauges.total.idleConnections == 1 }
            let waiting = try stack.observe(server.url("/held"))
            try await arrived.opened()
            let gauges = await stack.gauges
            try expectEqual([gauges.total.connectionsInUse, gauges.total.idleConnections], [1, 0], "connections")
            try expectEqual(gauges.loop?.connectionsOpened, 1, "opened connections")
            try expectEqual(gauges.loop?.nameLookups, 1, "lookups")
            held.open()
            try await waiting.onlyOutcome().value()
            await stack.shutdown()
            try expectEqual(await stack.gauges.total, .init(), "connections after the shutdown")
        },
    ]
}
