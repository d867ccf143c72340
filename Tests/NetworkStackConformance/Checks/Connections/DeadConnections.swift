import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Keep-alive connections that are dead or half-closed when they are reused.
    static let deadConnections: [ConformanceCheck] =
        ([.GET, .HEAD, .PUT, .DELETE, .OPTIONS] as [HTTP.Method]).map { method in
            ConformanceCheck(
                "A \(method) is repeated after its keep-alive connection died unanswered",
                needs: [.network],
                rests: [.rfc(9110, "9.2.2")]
            ) {
                subject in
                let (client, server) = try await clientOfDyingConnection(subject)
                let body: HTTP.Body = method == .PUT ? .bytes(patternBytes(5000)) : .none
                var options = HTTP.Options()
                options.allowsEmptyBody = true
                let request = try HTTP.Request(method: method, url: server.url("/second"), body: body)
                _ = try await client.success(request, options: options)
                try expectEqual(
                    server.requests.map(\.path),
                    ["/first", "/second", "/second"],
                    "what the server received"
                )
                try expectEqual(server.requests.map(\.bodyCount).last, method == .PUT ? 5000 : 0, "bytes of the body")
            }
        }
        + ([.POST, .PATCH, "LOCK"] as [HTTP.Method]).map { method in
            ConformanceCheck(
                "A \(method) is not repeated after its keep-alive connection died unanswered",
                needs: [.network, .idempotentRetriesOnly],
                rests: [.rfc(9110, "9.2.2")]
            ) { subject in
                for dies in [ScriptedServer.Step.close, .reset] {
                    let (client, server) = try await clientOfDyingConnection(subject, dies)
                    let request = try HTTP.Request(
                        method: method,
                        url: server.url("/second"),
                        body: .bytes(Data("hello".utf8))
                    )
                    try await client.outcome(of: request).expectLostAfterSending()
                    try expectEqual(server.requests.map(\.path), ["/first", "/second"], "what the server received")
                    // The stack works afterwards.
                    _ = try await client.get(server.url("/third"))
                }
            }
        }
        + [
            ConformanceCheck(
                "A GET is repeated on a fresh connection, a POST never",
                needs: [.network, .idempotentRetriesOnly],
                rests: [.rfc(9110, "9.2.2")]
            ) { subject in
                for dies in [ScriptedServer.Step.close, .reset] {
                    // As after a restart of a middlebox: the connections die when they are reused.
                    let (kept, leave) = (12, Gate())
                    let server = try ScriptedServer { index in
                        index < kept
                            ? [.receiveHead, .wait(for: leave), .send(reply), .receiveRequest, dies]
                            : [.receiveHead, .send(reply), .waitForClose]
                    }
                    let client = try subject.client()
                    async let fetched: Void = together(kept) { _ = try await client.get(server.url("/\($0)")) }
                    try await server.waitUntil { $0.requests.count == kept }
                    leave.open()
                    try await fetched
                    let body = HTTP.Body.bytes(Data("hello".utf8))
                    let request = try HTTP.Request(method: .POST, url: server.url("/post"), body: body)
                    try await client.outcome(of: request).expectFailure(.empty, .receive)
                    try expectBytes(await client.get(server.url("/get")).value, "ok".utf8)
                    try expectEqual(server.requests.count { $0.path == "/get" }, 2, "GETs that the server received")
                    try expectEqual(server.requests.count { $0.path == "/post" }, 1, "POSTs that the server received")
                }
            },
            ConformanceCheck(
                "A POST that one address received is not reported as unsent",
                needs: [.network, .heldLookups]
            ) { subject in
                // The first address refuses; the second receives the request, and does not answer.
                let server = try ScriptedServer { _ in [.receiveRequest, .close] }
                let url = server.url(host: HeldLookups.nameOfTwoAddresses)
                let request = try HTTP.Request(method: .POST, url: url, body: .bytes(Data("order".utf8)))
                let client = try subject.client { $0.interceptors = [HTTPRetryPolicy.maxRetries(2).whenSafe()] }
                try await client.outcome(of: request).expectFailure(.empty)
                try expectEqual(server.requests.map(\.bodyCount), [5], "what the server received")
            },
            ConformanceCheck(
                "A request lost before a refused reconnect is not reported as unsent",
                needs: [.network]
            ) { subject in
                for method in [HTTP.Method.POST, .PUT, .DELETE] {
                    for dies in [ScriptedServer.Step.close, .reset] {
                        let outcome = try await send(method, subject, dies) { $0.stopListening() }
                        try outcome.expectLostAfterSending()
                    }
                }
            },
            ConformanceCheck(
                "A POST lost before a connect timeout is not reported as unsent",
                needs: [.network, .idempotentRetriesOnly, .connectTimeout]
            ) { subject, scale in
                let silent = Lock<UnresponsivePort?>(nil)
                let options = HTTP.Options.clocks(connect: .milliseconds(500) * scale)
                let outcome = try await send(.POST, subject, .reset, options) { server in
                    server.stopListening()
                    let port = try UnresponsivePort(server.port)
                    silent.withLock { $0 = port }
                }
                try expect(silent.withLock { $0 } != nil, "The second request did not arrive")
                // A stack may connect again and detect that it must not send, or fail at once.
                if case .failure(.timedOut) = outcome {
                    try outcome.expectTimeout(.connect, during: [.waiting])
                } else {
                    try outcome.expectLostAfterSending()
                }
            },
            ConformanceCheck(
                "A POST on a closed keep-alive connection is sent on another",
                needs: [.network]
            ) {
                subject in
                // The server cannot have processed the request: it closed before the request arrived.
                for last in [ScriptedServer.Step.close, .reset] {
                    let closes = Gate()
                    let server = try ScriptedServer { index in
                        [.receiveRequest, .send(reply)] + (index == 0 ? [.wait(for: closes), last] : [.waitForClose])
                    }
                    let client = try subject.client()
                    _ = try await client.get(server.url("/first"))
                    closes.open()
                    try await server.waitUntil { $0.connections.first?.state == .closedByServer }
                    let request = try HTTP.Request(
                        method: .POST,
                        url: server.url("/second"),
                        body: .bytes(patternBytes(100_000))
                    )
                    try expectBytes(await client.success(request).value, "ok".utf8)
                    try expectEqual(server.requests.map(\.path), ["/first", "/second"], "what the server received")
                }
            },
            ConformanceCheck(
                "A fresh connection that dies unanswered fails without a repeat",
                needs: [.network]
            ) { subject in
                let server = try ScriptedServer { _ in [.receiveHead, .close] }
                for method in [HTTP.Method.GET, .POST] {
                    _ = try await subject.client().breakdown(HTTP.Request(method: method, url: server.url()))
                }
                try expectEqual(server.requests.map(\.method), ["GET", "POST"], "what the server received")
            },
            ConformanceCheck(
                "A connection half-closed by the server is not used again",
                needs: [.network]
            ) {
                subject in
                let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .shutdownWrite, .waitForClose] }
                let client = try subject.client()
                for number in 1...3 {
                    try expectBytes(await client.get(server.url()).value, "ok".utf8)
                    try await server.waitUntil { snapshot in
                        snapshot.accepted == number && snapshot.connections.allSatisfy { $0.state == .closedByServer }
                    }
                }
                try expectEqual(server.connections.map(\.requests.count), [1, 1, 1], "requests per connection")
            },
            ConformanceCheck(
                "A response on a half-closed connection is read during the upload",
                needs: [.network]
            ) {
                subject in
                let server = try ScriptedServer { _ in
                    [
                        .receiveHead,
                        .send("HTTP/1.1 413 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno"), .shutdownWrite,
                        .waitForClose,
                    ]
                }
                let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(patternBytes(8 << 20)))
                try expectEqual(await subject.client().unsuccessful(request).status, .contentTooLarge, "the status")
            },
        ]

    /// A client whose keep-alive connection dies when the second request has arrived.
    private static func clientOfDyingConnection(
        _ subject: ConformanceSubject,
        _ dies: ScriptedServer.Step = .close
    ) async throws -> (BoundedClient, ScriptedServer) {
        let server = try ScriptedServer { index in
            index == 0
                ? [.receiveHead, .send(reply), .receiveRequest, dies]
                : [
                    .run { connection in
                        while true {
                            let head = try connection.receiveHead()
                            try connection.receiveBody()
                            let content = head.method == "HEAD" ? "" : "ok"
                            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\(content)")
                        }
                    }
                ]
        }
        let client = try subject.client()
        _ = try await client.get(server.url("/first"))
        return (client, server)
    }

    /// Sends a request on a keep-alive connection that dies on its arrival, after a change of the server.
    private static func send(
        _ method: HTTP.Method,
        _ subject: ConformanceSubject,
        _ dies: ScriptedServer.Step,
        _ options: HTTP.Options? = nil,
        changing change: @escaping @Sendable (ScriptedServer) throws -> Void
    ) async throws -> BoundedClient.Outcome {
        let box = Lock<ScriptedServer?>(nil)
        let server = try ScriptedServer { _ in
            [
                .receiveHead, .send(reply), .receiveRequest,
                .run { _ in if let server = box.withLock({ $0 }) { try change(server) } }, dies,
            ]
        }
        box.withLock { $0 = server }
        defer { box.withLock { $0 = nil } }
        let client = try subject.client {
            if !method.isIdempotent { $0.interceptors = [HTTPRetryPolicy.maxRetries(2).whenSafe()] }
        }
        _ = try await client.get(server.url("/first"))
        let body = HTTP.Body.bytes(Data("order".utf8))
        return try await client.outcome(
            of: HTTP.Request(method: method, url: server.url("/second"), body: body),
            options: options
        )
    }
}

extension BoundedClient.Outcome {
    /// Expects that the connection was lost after the request was sent, and that the error has the phase.
    fileprivate func expectLostAfterSending(file: StaticString = #fileID, line: UInt = #line) throws {
        try expectFailure(.empty, .receive, file: file, line: line)
        guard case .failure(let failure) = self, case .transport(let error, _) = failure else { return }
        let phase = (error as? any HTTPTransportError)?.phase
        try expect(
            !failure.isRetryable && phase?.isBeforeSending != true,
            "The error reports a sent request as unsent: \(error)",
            file: file,
            line: line
        )
    }
}
