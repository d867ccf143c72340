import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The bodies of the request and of the redirect when a redirect is followed.
    static let redirectBodies: [ConformanceCheck] = [
        replays("bytes") { .bytes($0) },
        ConformanceCheck("A 307 repeats a body from a file") { subject in
            let content = patternBytes(200_000)
            let file = try ContentFile(content)
            try await arrivesTwice(content, .file(path: file.path), on: subject)
        },
        replays("a repeatable stream") { content in
            .stream(.init(length: Int64(content.count)) { AsyncStream(pieces(of: content)) })
        },
        replays("a repeatable stream of unknown length") { content in
            .stream(.init { AsyncStream(pieces(of: content)) })
        },
        ConformanceCheck("A 307 does not repeat a one-shot stream") { subject in
            let peer = try subject.serve { $0.path.hasSuffix("/start") ? .redirect(307, to: "/next") : .ok("done") }
            let body = HTTP.Body.stream(.init(AsyncStream([Data("once".utf8)]), length: 4))
            let request = try HTTP.Request(method: .POST, url: peer.url("/start"), body: body)
            guard case .bodyNotReplayable = try await subject.client().refusal(request) else {
                throw ConformanceFailure("expected the body to be refused as not replayable")
            }
            try expectEqual(peer.requests().count, 1, "requests")
        },
        ConformanceCheck("A 303 is followed after a one-shot stream") { subject in
            let peer = try subject.serve { $0.path.hasSuffix("/start") ? .redirect(303, to: "/next") : .ok("done") }
            let body = HTTP.Body.stream(.init(AsyncStream([Data("once".utf8)]), length: 4))
            _ = try await subject.client().success(HTTP.Request(method: .POST, url: peer.url("/start"), body: body))
            try expectEqual(peer.requests().map(\.text), ["once", ""], "the body")
        },
        ConformanceCheck("A redirect with a huge body is followed without reading it all", needs: [.network]) {
            subject in
            // The server sends no byte of the body: a client that waits for it never ends.
            try await follows("Content-Length: 100000000", [.waitForClose], on: subject)
        },
        ConformanceCheck("A redirect whose body stalls is followed", needs: [.network]) { subject in
            let chunk = "20000\r\n\(String(repeating: "x", count: 131_072))\r\n"
            try await follows("Transfer-Encoding: chunked", [.send(chunk), .waitForClose], on: subject)
        },
        ConformanceCheck("A redirect whose body comes slowly is followed", needs: [.network]) { subject, scale in
            let drip = ScriptedServer.Step.drip(Array("0123456789".utf8), every: .milliseconds(200) * scale)
            try await follows("Content-Length: 10", [drip], on: subject, idle: .milliseconds(800) * scale)
        },
        ConformanceCheck("A redirect whose body never ends is followed", needs: [.network, .backPressure]) {
            subject in
            let piece = "1000\r\n\(String(repeating: "x", count: 4096))\r\n"
            try await follows("Transfer-Encoding: chunked", [.repeat([.send(piece)])], on: subject)
        },
        ConformanceCheck("A redirect's unread body closes its connection", needs: [.network, .backPressure]) {
            subject in
            let server = try ScriptedServer { index in
                guard index == 0 else { return [.receiveHead, .send(doneReply), .waitForClose] }
                let head = "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 100000000\r\n\r\n"
                return [.receiveHead, .send(head), .sendPattern(131_072), .waitForClose]
            }
            let client = try subject.client()
            _ = try await client.get(server.url("/start"))
            try await server.waitUntil { $0.accepted == 2 && $0.connections[0].state != .open }
            withExtendedLifetime(client) {}
        },
        ConformanceCheck("A redirect's body is not mistaken for the response's body") { subject in
            let peer = try subject.serve { request in
                guard request.path.hasSuffix("/start") else { return .ok("done") }
                return .status(302, String(repeating: "moved ", count: 1000), headers: [("Location", "/next")])
            }
            try expectBytes(await subject.client().get(peer.url("/start")).value, "done".utf8)
        },
        ConformanceCheck("A redirect with a small body keeps the connection", needs: [.network]) { subject in
            let peer = try subject.serve { request in
                guard request.path == "/start" else { return .ok("done") }
                let head = "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 6000\r\n\r\n"
                // Separate from its head, so that a client that does not wait for it is seen to close.
                let content = String(repeating: "moved ", count: 1000)
                return Reply(head: Array(head.utf8), body: [], steps: [.pause(.milliseconds(50)), .send(content)])
            }
            _ = try await subject.client().get(peer.url("/start"))
            try expectEqual(peer.requests().map(\.connectionIndex), [0, 0], "the connections")
        },
        ConformanceCheck("A redirect's body does not count against the body limit") { subject in
            let peer = try subject.serve { request in
                guard request.path.hasSuffix("/start") else { return .ok("done") }
                return .status(302, String(repeating: "moved ", count: 1000), headers: [("Location", "/next")])
            }
            let client = try subject.client { $0.options.limits.body = 4 }
            try expectBytes(await client.get(peer.url("/start")).value, "done".utf8)
        },
        ConformanceCheck("An empty success after a redirect is judged by the last method") {
            subject in
            let peer = try subject.serve { $0.path.hasSuffix("/start") ? .redirect(303, to: "/next") : .ok("") }
            var options = HTTP.Options()
            options.emptyRequestMethods = [.POST]
            let request = try HTTP.Request(method: .POST, url: peer.url("/start"), body: .bytes(Data("x".utf8)))
            guard case .noData(200, _) = try await subject.client().failure(request, options: options) else {
                throw ConformanceFailure("expected no data: the last GET has an empty body")
            }
        },
    ]

    /// Expects a redirect to be followed whose body is sent by these steps, or never.
    private static func follows(
        _ framing: String,
        _ steps: [ScriptedServer.Step],
        on subject: ConformanceSubject,
        idle: Duration = .seconds(3)
    ) async throws {
        let peer = try subject.serve { request in
            guard request.path == "/start" else { return .ok("done") }
            let head = "HTTP/1.1 302 Found\r\nLocation: /next\r\n\(framing)\r\n\r\n"
            return Reply(head: Array(head.utf8), body: [], steps: steps)
        }
        let client = try subject.client { $0.options.timeouts.idle = idle }
        try expectBytes(await client.get(peer.url("/start")).value, "done".utf8)
    }

    private static func replays(
        _ what: String,
        body: @escaping @Sendable (Data) -> HTTP.Body
    ) -> ConformanceCheck {
        ConformanceCheck("A 307 repeats a body from \(what)") { subject in
            let content = patternBytes(200_000)
            try await arrivesTwice(content, body(content), on: subject)
        }
    }

    private static func arrivesTwice(_ content: Data, _ body: HTTP.Body, on subject: ConformanceSubject) async throws {
        let peer = try subject.serve { $0.path.hasSuffix("/start") ? .redirect(307, to: "/next") : .ok("done") }
        _ = try await subject.client().success(HTTP.Request(method: .POST, url: peer.url("/start"), body: body))
        try expectEqual(peer.requests().count, 2, "requests")
        for request in peer.requests() { try expectBytes(request.body, content) }
    }
}
