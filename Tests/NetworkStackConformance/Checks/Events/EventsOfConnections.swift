import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Events and metrics of connections.
    static let connectionEvents: [ConformanceCheck] = [
        ConformanceCheck("A new connection reports each step, a reused one none", needs: [.network, .connectionEvents])
        {
            subject in
            let recorder = EventRecorder()
            let server = try ScriptedServer.responding { _ in .ok("x") }
            let stack = try subject.stack { $0.listeners = [recorder] }
            for _ in 0..<2 { try await stack.text(server.url()) }
            let fetches = try await recorder.ended(2)
            let steps = { (events: [EventRecorder.Entry]) in
                events.map { "\($0)" }.filter { $0.hasPrefix("connect") || $0.hasPrefix("requestSent") }
            }
            try expectEqual(
                steps(fetches[0]),
                ["connectStarted", "connectEnded", "connectionAcquired new", "requestSent 0", "connectionReleased"],
                "the steps of the first"
            )
            try expectEqual(
                steps(fetches[1]),
                ["connectionAcquired reused", "requestSent 0", "connectionReleased"],
                "the steps of the second"
            )
        },
        ConformanceCheck(
            "A name and TLS are reported between their start and end",
            needs: [
                .network, .connectionEvents, .customTrustRoots,
            ]
        ) { subject in
            let recorder = EventRecorder()
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secret") }
            let stack = try subject.stack {
                $0.listeners = [recorder]
                $0.tls.trustRoots = .file(path: certificates.caFile)
            }
            try await stack.text(server.url(host: "localhost"))
            let events = try await recorder.ended(1)[0].map(\.name)
            let steps = ["nameLookup", "connect", "tls"].flatMap { ["\($0)Started", "\($0)Ended"] }
            let seen = events.filter { steps.contains($0) }
            // One of two addresses may refuse the connection.
            try expectEqual(seen.first, "nameLookupStarted", "the first step of \(events)")
            try expectEqual(Array(seen.suffix(4)), Array(steps.suffix(4)), "the last steps of \(events)")
        },
        ConformanceCheck(
            "Metrics name the connection, its age and TLS",
            needs: [
                .network, .connectionEvents, .customTrustRoots,
            ]
        ) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("secret") }
            let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
            let first = try await client.get(server.url()).response.metrics
            try await Task.sleep(for: .milliseconds(20))
            let second = try await client.get(server.url()).response.metrics
            let connection = try known(first.connection, "the connection")
            try expectEqual(second.connection, connection, "the connection of the second fetch")
            try expectEqual(connection.remotePort, Int(server.port), "the server's port")
            try expectEqual(connection.localAddress, "127.0.0.1", "the local address")
            try expectEqual(server.connections.count, 1, "connections that the server saw")
            try expect(connection.localPort ?? 0 > 1023, "The local port is \(connection.localPort ?? 0)")
            let tls = try known(connection.tls, "what TLS negotiated")
            try expectEqual(tls.version, "TLSv1.3", "the version of TLS")
            try expect(tls.cipher?.hasPrefix("TLS_") == true, "The cipher suite is \(tls.cipher ?? "unknown")")
            try expectEqual(tls.isResumed, false, "whether a session was resumed")
            let ages = (try known(first.connectionAge, "the age"), try known(second.connectionAge, "the age"))
            try expect(ages.0 < ages.1 && ages.1 >= .milliseconds(20), "The connection's ages are \(ages)")
        },
        ConformanceCheck("Connections report their opening and end once", needs: [.network, .connectionEvents]) {
            subject in
            let recorder = EventRecorder()
            let server = try ScriptedServer { index in
                [
                    .receiveHead,
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\(index == 0 ? "" : "Connection: close\r\n")\r\nx"),
                    index == 0 ? .receiveHead : .close, .close,
                ]
            }
            do {
                let stack = try subject.stack { $0.listeners = [recorder] }
                for _ in 0..<2 { _ = try await stack.observe(server.url(), method: .POST).onlyOutcome() }
                _ = try await stack.observe(server.url()).onlyOutcome()
            }
            // A released stack closes its open connections.
            let named = { (name: String) in
                recorder.entries.filter { $0.name == name }.map { $0.detail.split(separator: " ")[0] }
            }
            try await eventually("each connection has ended: \(recorder.entries)") {
                !named("connectionOpened").isEmpty && named("connectionClosed").count == named("connectionOpened").count
            }
            try expectEqual(named("connectionClosed").sorted(), named("connectionOpened").sorted(), "the connections")
            try expect(
                recorder.entries.contains { $0.detail.hasSuffix(" remote") },
                "No connection was closed by the server: \(recorder.entries)"
            )
        },
        ConformanceCheck(
            "A server's close behind unread bytes counts as remote",
            needs: [.network, .connectionEvents]
        ) { subject in
            let recorder = EventRecorder()
            // Some servers send this before they close an idle connection (RFC 9110 section 15.5.9).
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send(doneReply), .pause(.milliseconds(100)),
                    .send("HTTP/1.1 408 Request Timeout\r\n\r\n"), .close,
                ]
            }
            let stack = try subject.stack { $0.listeners = [recorder] }
            for _ in 0..<2 {
                try await stack.text(server.url())
                try await server.sees("the end of the connection") { $0.connections.allSatisfy { $0.state != .open } }
            }
            try await eventually("the first connection has ended: \(recorder.entries)") {
                recorder.entries.contains { $0.name == "connectionClosed" && $0.detail.hasSuffix(" remote") }
            }
        },
    ]

    private static func known<Value>(_ value: Value?, _ what: String) throws -> Value {
        guard let value else { throw ConformanceFailure("The metrics do not have \(what)") }
        return value
    }
}
