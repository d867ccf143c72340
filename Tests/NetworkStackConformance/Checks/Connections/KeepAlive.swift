import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// How long a server keeps an unused connection, by its Keep-Alive field. The checks read the server's log, and the servers
    /// close nothing: a clock that runs late on a busy machine changes nothing.
    static let keptAlive: [ConformanceCheck] = [
        ConformanceCheck(
            "A connection near the end of its Keep-Alive timeout is not used",
            needs: [.network, .keepAliveTimeouts]
        ) {
            subject in
            let server = try ScriptedServer.responding { _ in .ok("x", headers: [("Keep-Alive", "timeout=1, max=100")])
            }
            let client = try subject.client()
            _ = try await client.get(server.url())
            try await Task.sleep(for: .milliseconds(900))
            _ = try await client.success(post(to: server))
            try expectEqual(server.snapshot.accepted, 2, "connections")
            try expectEqual(server.requests.count, 2, "requests")
        },
        ConformanceCheck(
            "A connection is used for most of its Keep-Alive timeout",
            needs: [.network, .keepAliveTimeouts],
            scaled: { subject, scale in
                let server = try ScriptedServer.responding { _ in
                    .ok("x", headers: [("Keep-Alive", "timeout=\(4 * scale)")])
                }
                let client = try subject.client()
                _ = try await client.get(server.url())
                try await Task.sleep(for: .milliseconds(2500) * scale)
                _ = try await client.success(post(to: server))
                try expectEqual(server.snapshot.accepted, 1, "connections")
            }
        ),
        ConformanceCheck(
            "Every response restarts the Keep-Alive timeout, with or without the field",
            needs: [.network, .keepAliveTimeouts]
        ) { subject in
            let server = try ScriptedServer.responding { request in
                request.path == "/said" ? .ok("x", headers: [("Keep-Alive", "timeout=2")]) : .ok("x")
            }
            let client = try subject.client()
            _ = try await client.get(server.url("/said"))
            _ = try await client.get(server.url("/unsaid"))
            try expectEqual(server.snapshot.accepted, 1, "connections before the timeout")
            try await Task.sleep(for: .milliseconds(1100))
            _ = try await client.success(post(to: server))
            try expectEqual(server.snapshot.accepted, 2, "connections after the timeout")
        },
        ConformanceCheck(
            "A Keep-Alive timeout of zero ends the connection's use",
            needs: [.network, .keepAliveTimeouts]
        ) { subject in
            let server = try ScriptedServer.responding { _ in .ok("x", headers: [("Keep-Alive", "timeout=0")]) }
            let client = try subject.client()
            _ = try await client.get(server.url())
            _ = try await client.success(post(to: server))
            try expectEqual(server.snapshot.accepted, 2, "connections")
        },
        ConformanceCheck("A Keep-Alive field without a valid timeout changes nothing", needs: [.network]) {
            subject in
            for value in ["timeout=60", "max=1000", "timeout=-1", "timeout"] {
                let server = try ScriptedServer.responding { _ in .ok("x", headers: [("Keep-Alive", value)]) }
                let client = try subject.client()
                for _ in 1...3 { _ = try await client.get(server.url()) }
                try expectEqual(server.snapshot.accepted, 1, "connections with \(value)")
            }
        },
    ]

    private static func post(to server: ScriptedServer) throws -> HTTP.Request {
        try HTTP.Request(method: .POST, url: server.url("/post"), body: .bytes(.init("x".utf8)))
    }
}
