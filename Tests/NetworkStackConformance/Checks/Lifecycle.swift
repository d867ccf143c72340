import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Stacks come and go, and so do connections.
    static let lifecycle: [ConformanceCheck] = stacks + connections

    private static let stacks: [ConformanceCheck] = [
        ConformanceCheck("A stack dropped while it fetches finishes its fetches") { subject in
            let (held, tally) = (Latch(), Tally())
            let peer = try subject.serve { request in
                tally.enter()
                held.wait()
                return .ok(request.path)
            }
            defer { held.open() }
            var stack: ConformanceSubject.Stack? = try subject.stack()
            let observations = try (1...5).compactMap { try stack?.observe(peer.url("/\($0)")) }
            try await eventually("the server has the requests") { tally.current == 5 }
            stack = nil
            held.open()
            for (index, observation) in observations.enumerated() {
                try expectEqual(try await observation.onlyOutcome().text(), "/\(index + 1)", "fetch \(index + 1)")
            }
        },
        ConformanceCheck("A stack dropped while fetches wait in its queue finishes them too", needs: [.network]) {
            subject in
            let held = Latch()
            let server = try ScriptedServer.responding { request in
                if request.path == "/0" { held.wait() }
                return .ok(request.path)
            }
            defer { held.open() }
            var stack: ConformanceSubject.Stack? = try subject.stack { $0.connections.perHost = 1 }
            let observations = try (0..<5).compactMap { try stack?.observe(server.url("/\($0)")) }
            try await server.sees("the first request") { $0.requests.count == 1 }
            stack = nil
            held.open()
            for (index, observation) in observations.enumerated() {
                try expectEqual(try await observation.onlyOutcome().text(), "/\(index)", "fetch \(index)")
            }
        },
        ConformanceCheck("A fetch of a dropped stack can still be cancelled", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            var stack: ConformanceSubject.Stack? = try subject.stack()
            let observation = try stack?.observe(server.url())
            try await server.sees("the request") { $0.requests.count == 1 }
            stack = nil
            observation?.cancel()
            try await observation?.onlyOutcome(within: .seconds(10)).expectCancelled()
            try await server.sees("the close", within: .seconds(10)) { $0.connections.first?.isEndedByPeer == true }
        },
        ConformanceCheck("A stack dropped after its fetches closes its connections", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { .ok($0.path) }
            for _ in 1...5 {
                let stack = try subject.stack()
                let observations = try (1...3).map { try stack.observe(server.url("/\($0)")) }
                for observation in observations { _ = try await observation.onlyOutcome().text() }
            }
            try await server.sees("the end of every connection") { $0.open == 0 && $0.requests.count == 15 }
        },
        ConformanceCheck("A stack that was never used can be dropped") { subject in
            for _ in 1...20 { _ = try subject.stack() }
        },
        ConformanceCheck("What a resource holds is let go of after the fetch") { subject in
            final class Witness: Sendable {
                let ended: Gate
                init(_ ended: Gate) { self.ended = ended }
                deinit { ended.open() }
            }
            let peer = try subject.serve { $0.path == "/" ? .ok("done") : .status(500, "failed") }
            let stack = try subject.stack()
            for path in ["/", "/failed"] {
                let ended = Gate()
                let request = try HTTP.Request(url: peer.url(path))
                try await bounded {
                    let witness = Witness(ended)
                    var options = HTTP.Options()
                    if subject.capabilities.supports(.informationalResponses) {
                        options.onInformational = { _ in withExtendedLifetime(witness) {} }
                    }
                    let resource = ConformanceSubject.Stack.Resource(
                        baseRequestMaking: .init { handler in
                            withExtendedLifetime(witness) { handler(.success(request)) }
                        },
                        errorDecoding: .init { _, _ in withExtendedLifetime(witness) { nil } },
                        options: options
                    )
                    _ = try? await stack.fetch(resource: resource)
                }
                do { try await ended.opened(within: .seconds(5)) } catch is WaitTimedOut {
                    throw ConformanceFailure("The stack still holds the resource of a fetch that has ended, \(path)")
                }
            }
            _ = try await stack.observe(peer.url("/")).onlyOutcome()  // the stack itself lives on
        },
        ConformanceCheck("Two stacks side by side share no connection", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { .ok($0.path) }
            let stacks = try (1...2).map { _ in try subject.stack() }
            for round in 1...3 {
                for (index, stack) in stacks.enumerated() {
                    try await stack.text(server.url("/\(index)/\(round)"))
                }
            }
            let seen = server.snapshot
            try expectEqual(seen.accepted, 2, "connections")
            for connection in seen.connections {
                let owners = Set(connection.requests.map { $0.path.prefix(2) })
                try expectEqual(owners.count, 1, "stacks on one connection")
            }
        },
        ConformanceCheck("What happens to one stack does not touch the other", needs: [.network]) { subject in
            let held = Latch()
            let server = try ScriptedServer.responding { request in
                if request.path == "/held" { held.wait() }
                return .ok(request.path)
            }
            defer { held.open() }
            let (keeping, stack) = (try subject.stack(), try subject.stack { $0.connections.perHost = 1 })
            let observation = try keeping.observe(server.url("/held"))
            try await server.sees("the request") { $0.requests.count == 1 }
            let cancelled = try stack.observe(server.url("/held"))
            try await server.sees("the other request") { $0.requests.count == 2 }
            cancelled.cancel()
            try await cancelled.onlyOutcome().expectCancelled()
            held.open()
            try expectEqual(try await observation.onlyOutcome().text(), "/held", "the other stack's fetch")
        },
    ]

    private static let connections: [ConformanceCheck] = [
        ConformanceCheck("Twenty fetches in a row use one connection", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { .ok($0.path) }
            let stack = try subject.stack()
            for number in 1...20 {
                try expectEqual(try await stack.text(server.url("/\(number)")), "/\(number)", "the content")
            }
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck("A connection is kept after an unsuccessful status", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { _ in .status(503, "later") }
            let stack = try subject.stack()
            for _ in 1...5 {
                guard case .failure(.http(503, _, _)) = try await stack.observe(server.url()).onlyOutcome() else {
                    throw ConformanceFailure("Expected http(503)")
                }
            }
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck("Connection: close is honoured", needs: [.network]) { subject in
            // The server itself does not close: the client has to.
            let reply = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlast"
            let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .waitForClose] }
            let stack = try subject.stack()
            for _ in 1...3 { try expectEqual(try await stack.text(server.url()), "last", "the content") }
            let seen = try await server.sees("three closed connections") {
                $0.connections.count(where: \.isEndedByPeer) == 3
            }
            try expectEqual(seen.connections.map(\.requests.count), [1, 1, 1], "requests per connection")
        },
        ConformanceCheck("An HTTP/1.0 answer ends its connection", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold"), .waitForClose]
            }
            let stack = try subject.stack()
            for _ in 1...2 { try expectEqual(try await stack.text(server.url()), "old", "the content") }
            try expectEqual(server.connections.map(\.requests.count), [1, 1], "requests per connection")
        },
        ConformanceCheck(
            "An HTTP/1.0 answer that would keep its connection ends it, too",
            needs: [.network, .strictReplies, .streamedRequestBody]
        ) { subject in
            // What follows on it would be HTTP/1.0, which knows no content without a length.
            let server = try ScriptedServer { _ in
                [
                    .receiveRequest,
                    .send("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nold"), .waitForClose,
                ]
            }
            let client = try subject.client()
            try expectBytes(await client.get(server.url()).value, "old".utf8)
            let content = HTTP.Body.stream(.init(AsyncStream([Data("new".utf8)])))
            let request = try HTTP.Request(method: .PUT, url: server.url(), body: content)
            try expectBytes(await client.success(request).value, "old".utf8)
            try expectEqual(
                server.connections.map { $0.requests.map(\.version) },
                [["HTTP/1.1"], ["HTTP/1.1"]],
                "versions"
            )
        },
        ConformanceCheck(
            "A connection that the server closed while it was idle does not fail the next fetch",
            needs: [.network]
        ) {
            subject in
            let closes = Gate()
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .wait(for: closes), .close]
            }
            let stack = try subject.stack()
            try await stack.text(server.url("/first"))
            closes.open()
            try await server.sees("its own close") { $0.connections.first?.state == .closedByServer }
            try expectEqual(try await stack.text(server.url("/second")), "ok", "the second fetch")
            try expectEqual(server.snapshot.accepted, 2, "connections")
        },
        ConformanceCheck("A connection that dies at the moment of its reuse does not fail a GET", needs: [.network]) {
            subject in
            let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            let server = try ScriptedServer { index in
                index == 0
                    ? [.receiveHead, .send(reply), .receiveHead, .close] : [.receiveHead, .send(reply), .waitForClose]
            }
            let stack = try subject.stack()
            try await stack.text(server.url("/first"))
            try expectEqual(try await stack.text(server.url("/second")), "ok", "the second fetch")
            try expectEqual(server.requests.map(\.path), ["/first", "/second", "/second"], "what the server received")
        },
        ConformanceCheck("Bytes that a server sends unasked are nobody's answer", needs: [.network]) { subject in
            let (sends, sent) = (Gate(), Gate())
            let server = try ScriptedServer { index in
                let answer = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                let poison = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
                return index == 0
                    ? [
                        .receiveHead, answer, .wait(for: sends), poison, .open(sent), .receiveHead, answer,
                        .waitForClose,
                    ]
                    : [.receiveHead, answer, .waitForClose]
            }
            let stack = try subject.stack()
            try await stack.text(server.url("/first"))
            sends.open()
            try await sent.opened()
            let outcome = try await stack.observe(server.url("/second")).onlyOutcome()
            try expectEqual(try outcome.text(), "ok", "the second fetch")
        },
        ConformanceCheck("Bytes after the end of an answer are nobody's answer", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { request in
                let own = "HTTP/1.1 200 OK\r\nContent-Length: \(request.path.utf8.count)\r\n\r\n\(request.path)"
                return .raw(own + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
            }
            let stack = try subject.stack()
            for number in 1...5 {
                try expectEqual(try await stack.text(server.url("/\(number)")), "/\(number)", "the content")
            }
        },
    ]
}
