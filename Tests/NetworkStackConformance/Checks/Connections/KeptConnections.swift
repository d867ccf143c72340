import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Connections are used again, and only where that is safe.
    static let keptConnections: [ConformanceCheck] = [
        ConformanceCheck("Twenty fetches in a row use one connection", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { .ok($0.path) }
            let stack = try subject.stack()
            for number in 1...20 {
                try expectEqual(try await stack.text(server.url("/\(number)")), "/\(number)", "the body")
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
        ConformanceCheck("Connection: close is honoured", needs: [.network], rests: [.rfc(9112, "9.6")]) { subject in
            // The server itself does not close: the client has to.
            let reply = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlast"
            let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .waitForClose] }
            let stack = try subject.stack()
            for _ in 1...3 { try expectEqual(try await stack.text(server.url()), "last", "the body") }
            let seen = try await server.sees("three closed connections") {
                $0.connections.count(where: \.isEndedByPeer) == 3
            }
            try expectEqual(seen.connections.map(\.requests.count), [1, 1, 1], "requests per connection")
        },
        ConformanceCheck("An HTTP/1.0 response ends its connection", needs: [.network], rests: [.rfc(9112, "9.3")]) {
            subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold"), .waitForClose]
            }
            let stack = try subject.stack()
            for _ in 1...2 { try expectEqual(try await stack.text(server.url()), "old", "the body") }
            try expectEqual(server.connections.map(\.requests.count), [1, 1], "requests per connection")
        },
        ConformanceCheck(
            "An HTTP/1.0 response with keep-alive changes no later request",
            needs: [.network, .strictReplies, .streamedRequestBody],
            rests: [.rfc(9112, "9.3")]
        ) { subject in
            // A request of HTTP/1.0 could have no content without a length. The connection may be used again.
            let server = try ScriptedServer { _ in
                [
                    .repeat([
                        .receiveRequest,
                        .send("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nold"),
                    ])
                ]
            }
            let client = try subject.client()
            try expectBytes(await client.get(server.url()).value, "old".utf8)
            let content = HTTP.Body.stream(.init(AsyncStream([Data("new".utf8)])))
            let request = try HTTP.Request(method: .PUT, url: server.url(), body: content)
            try expectBytes(await client.success(request).value, "old".utf8)
            try expectEqual(server.requests.map(\.version), ["HTTP/1.1", "HTTP/1.1"], "versions")
        },
        ConformanceCheck(
            "A connection closed while idle does not fail the next fetch",
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
        ConformanceCheck("A connection that dies on reuse does not fail a GET", needs: [.network]) {
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
        ConformanceCheck("Unrequested bytes from a server are not taken as a response", needs: [.network]) { subject in
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
        ConformanceCheck("Bytes after the end of a response are not taken as another", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { request in
                let own = "HTTP/1.1 200 OK\r\nContent-Length: \(request.path.utf8.count)\r\n\r\n\(request.path)"
                return .raw(own + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
            }
            let stack = try subject.stack()
            for number in 1...5 {
                try expectEqual(try await stack.text(server.url("/\(number)")), "/\(number)", "the body")
            }
        },
    ]
}
