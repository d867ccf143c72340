import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The configured ages of connections. The checks read the server's log, and the servers close nothing: a clock that
    /// runs late on a busy machine changes nothing.
    static let connectionAges: [ConformanceCheck] = [
        ConformanceCheck(
            "A connection idle for longer than its age is not used",
            needs: [.network, .idleConnectionAge]
        ) { subject in
            try await expectAnother(subject) { $0.connections.idleAge = .seconds(1) }
        },
        ConformanceCheck(
            "A connection past its lifetime is not used for another fetch",
            needs: [.network, .connectionLifetime]
        ) { subject in
            try await expectAnother(subject) { $0.connections.lifetime = .seconds(1) }
        },
        ConformanceCheck(
            "A connection is used for most of its idle age and lifetime",
            needs: [.network, .idleConnectionAge, .connectionLifetime],
            scaled: { subject, scale in
                let server = try ScriptedServer.responding { _ in .ok("x") }
                let stacks = try [
                    subject.stack { $0.connections.idleAge = .seconds(4 * scale) },
                    subject.stack { $0.connections.lifetime = .seconds(4 * scale) },
                ]
                for stack in stacks { try await stack.text(server.url()) }
                try await Task.sleep(for: .milliseconds(2500) * scale)
                for stack in stacks { try await stack.text(server.url()) }
                try expectEqual(server.connections.map(\.requests.count), [2, 2], "requests of each connection")
            }
        ),
        ConformanceCheck(
            "A preconnection opens the connection that the next fetch uses",
            needs: [.network, .preconnection]
        ) { subject in
            let server = try ScriptedServer.responding { _ in .ok("x") }
            guard let makePreconnecting = subject.makePreconnecting else {
                throw ConformanceFailure("Give the subject a closure that opens a connection in advance")
            }
            let (stack, preconnect) = try makePreconnecting(Network.Configuration())
            let origin = try HTTP.Origin(of: HTTP.Request(url: server.url()).url)
            try await bounded { try await preconnect(origin) }
            let seen = try await server.sees("the connection") { $0.accepted == 1 }
            try expectEqual(seen.connections.map(\.receivedCount), [0], "bytes received before the request")
            try await stack.text(server.url())
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
    ]

    /// Fetches, waits until the connection is too old by a whole second, and expects another connection for the next fetch.
    private static func expectAnother(
        _ subject: ConformanceSubject,
        _ limit: (inout Network.Configuration) -> Void
    ) async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        let stack = try subject.stack(limit)
        try await stack.text(server.url())
        try await Task.sleep(for: .milliseconds(2100))
        try await stack.text(server.url())
        try expectEqual(server.snapshot.accepted, 2, "connections")
    }
}
