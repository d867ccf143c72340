import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// A cancel in each phase on the wire. The server never answers, so only the cancel can end the fetch;
    /// the server's record shows the end of the connection.
    static let cancelInFlight: [ConformanceCheck] = [
        cancelled("A cancel while the head is awaited closes the connection at once", [.receiveHead, .waitForClose]) {
            $0.requests.count == 1
        },
        cancelled(
            "A cancel within the head closes the connection at once",
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Le"), .waitForClose]
        ) { $0.connections.first?.sentCount == 27 },
        cancelled(
            "A cancel within the body closes the connection at once",
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"), .waitForClose]
        ) { $0.connections.first?.sentCount == 45 },
        cancelled(
            "A cancel within a chunk closes the connection at once",
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"), .waitForClose]
        ) { $0.connections.first?.sentCount == 53 },
        ConformanceCheck(
            "A cancel during the TLS handshake closes the connection at once",
            needs: [.network, .endedAttempts]
        ) { subject in
            var options = ScriptedServer.Options(tls: try TestCertificates.shared().server)
            options.answersHandshake = false
            let server = try ScriptedServer(options) { _ in [] }
            try await expectFreed(subject, server) { ($0.connections.first?.receivedCount ?? 0) > 0 }
        },
        ConformanceCheck(
            "A cancel while connecting ends the attempt at once",
            needs: [.network, .endedAttempts]
        ) { subject in
            let port = try UnresponsivePort()
            let observation = try subject.stack().observe("http://127.0.0.1:\(port.port)/")
            try await eventually("the stack is connecting") { try SocketTable.attempts(to: port) == 1 }
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            try await eventually("the attempt is cancelled", within: .seconds(10)) {
                try SocketTable.attempts(to: port) == 0
            }
        },
        ConformanceCheck("Cancelling an upload that the server does not read closes the connection", needs: [.network])
        {
            subject in
            let goesOn = Gate()
            var options = ScriptedServer.Options()
            options.receiveBuffer = 32 * 1024
            let server = try ScriptedServer(options) { _ in [.receiveHead, .wait(for: goesOn), .waitForClose] }
            let body = HTTP.Body.bytes(Data(count: 32 << 20))
            let observation = try subject.stack().observe(server.url(), method: .POST, body: body)
            try await server.sees("the request") { $0.requests.count == 1 }
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            goesOn.open()
            let seen = try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
            try expect(seen.connections[0].receivedCount < 32 << 20, "The whole body was sent despite the cancel")
        },
        ConformanceCheck("Cancelling a queued fetch ends its wait and affects no other", needs: [.network]) { subject in
            let bottleneck = try await Bottleneck(subject)
            defer { bottleneck.open() }
            let (server, stack, first) = (bottleneck.server, bottleneck.stack, bottleneck.first)
            let queued = try (1...3).map { try stack.observe(server.url("/queued/\($0)")) }
            queued[1].cancel()
            try await queued[1].onlyOutcome(within: .seconds(10)).expectCancelled()
            try expect(!first.isCompleted, "The first fetch ended early")
            bottleneck.open()
            try expectEqual(try await first.onlyOutcome().text(), "/held", "the first fetch")
            _ = try await (queued[0].onlyOutcome().text(), queued[2].onlyOutcome().text())
            try expectEqual(
                server.requests.map(\.path),
                ["/held", "/queued/1", "/queued/3"],
                "what the server received"
            )
        },
        ConformanceCheck("A cancelled fetch gives its connection slot to the next at once", needs: [.network]) {
            subject in
            let server = try ScriptedServer { index in
                index == 0
                    ? [.receiveHead, .waitForClose]
                    : [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")]
            }
            let stack = try subject.stack { $0.connections.perHost = 1 }
            let first = try stack.observe(server.url("/first"))
            try await server.sees("the first request") { $0.requests.count == 1 }
            let next = try stack.observe(server.url("/next"))
            first.cancel()
            try expectEqual(try await next.outcome(within: .seconds(10)).text(), "next", "the queued fetch")
        },
        ConformanceCheck("A cancel during a chain of redirects ends the fetch", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { request in
                let number = Int(request.path.dropFirst()) ?? 0
                return number < 3 ? .redirect(to: "/\(number + 1)") : .steps([.waitForClose])
            }
            try await expectFreed(subject, server, path: "/0") { $0.requests.count == 4 }
        },
    ]

    private static func cancelled(
        _ name: String,
        _ script: ScriptedServer.Script,
        when isTheMoment: @escaping @Sendable (Snapshot) -> Bool
    ) -> ConformanceCheck {
        ConformanceCheck(name, needs: [.network]) { subject in
            try await expectFreed(subject, ScriptedServer { _ in script }, when: isTheMoment)
        }
    }

    /// Cancels at a moment that the server reports, and expects the outcome and the end of the connection.
    private static func expectFreed(
        _ subject: ConformanceSubject,
        _ server: ScriptedServer,
        path: String = "/",
        when isTheMoment: @escaping @Sendable (Snapshot) -> Bool
    ) async throws {
        let observation = try subject.stack().observe(server.url(path))
        try await server.sees("the state before the cancel", isTheMoment)
        try expect(!observation.isCompleted, "The fetch ended before the cancel")
        observation.cancel()
        try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
        let seen = try await server.sees("the close", within: .seconds(10)) {
            $0.connections.allSatisfy(\.isEndedByPeer)
        }
        try expectEqual(seen.accepted, 1, "connections")
    }
}
