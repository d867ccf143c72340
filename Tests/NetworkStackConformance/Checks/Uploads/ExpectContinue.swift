import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsExpecting: Set<HTTP.Capability> = [.network, .expectContinue]

    /// Bodies that wait for 100 Continue (RFC 9110 section 10.1.1).
    static let expectations: [ConformanceCheck] = [
        ConformanceCheck("A body waits for 100 Continue", needs: needsExpecting) { subject in
            for headers: HTTP.Headers in [[:], [.expect: "100-continue"]] {
                let (asked, mayAsk) = (Gate(), Gate())
                let server = try ScriptedServer { _ in
                    [
                        .receiveHead, .open(asked), .wait(for: mayAsk), .send("HTTP/1.1 100 Continue\r\n\r\n"),
                        .receiveBody,
                        .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .waitForClose,
                    ]
                }
                let content = patternBytes(5000)
                async let fetched = subject.client().success(
                    HTTP.Request(method: .POST, url: server.url(), headers: headers, body: .bytes(content)),
                    options: waiting(.seconds(20))
                )
                try await asked.opened()
                let head = server.requests.first
                try expectEqual(server.connections.first?.receivedCount, head?.rawHead.count, "bytes sent")
                try expectEqual(head?.values(of: "Expect"), ["100-continue"], "Expect")
                mayAsk.open()
                try expectBytes(await fetched.value, "ok".utf8)
                try expectBytes(server.requests.first?.body ?? [], content)
            }
        },
        ConformanceCheck("A body without 100 Continue is sent after the wait", needs: needsExpecting) { subject in
            let server = try ScriptedServer { _ in
                [.receiveRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .waitForClose]
            }
            let content = patternBytes(5000)
            let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(content))
            let fetched = try await subject.client().success(request, options: waiting(.milliseconds(50)))
            try expectBytes(fetched.value, "ok".utf8)
            try expectBytes(server.requests.first?.body ?? [], content)
            try expect(fetched.response.metrics.total >= .milliseconds(50), "The body was sent early")
        },
        ConformanceCheck(
            "The 100 Continue wait ends beside another timer of the transfer",
            needs: needsExpecting.union([.addressFamily])
        ) { subject in
            let server = try ScriptedServer { _ in
                [.receiveRequest, .send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), .close]
            }
            let client = try subject.client {
                // Each timer starts at about the opening of the connection.
                $0.addresses.happyEyeballsDelay = .milliseconds(20)
                $0.options = waiting(.milliseconds(21))
                $0.options.timeouts.idle = .seconds(5)
            }
            for _ in 0..<30 {
                let content = HTTP.Body.bytes(patternBytes(100))
                _ = try await client.success(HTTP.Request(method: .POST, url: server.url(), body: content))
            }
            try expectEqual(server.requests.map(\.bodyCount), Array(repeating: 100, count: 30), "bytes of the body")
        },
        ConformanceCheck(
            "After a 417, the request is sent again without Expect",
            needs: needsExpecting
        ) {
            subject in
            for field in ["", "Connection: close\r\n"] {
                let server = try ScriptedServer { _ in
                    [
                        .run { connection in
                            while true {
                                let head = try connection.receiveHead()
                                if head["Expect"] != nil {
                                    try connection.send("HTTP/1.1 417 No\r\nContent-Length: 2\r\n\(field)\r\nno")
                                } else {
                                    try connection.receiveBody()
                                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                                }
                            }
                        }
                    ]
                }
                let content = patternBytes(5000)
                for expecting in [true, false] {
                    let headers: HTTP.Headers = expecting ? [:] : [.expect: "100-continue"]
                    let request = try HTTP.Request(
                        method: .POST,
                        url: server.url(),
                        headers: headers,
                        body: .bytes(content)
                    )
                    let fetched = try await subject.client().success(
                        request,
                        options: expecting ? waiting(.seconds(20)) : nil
                    )
                    try expectBytes(fetched.value, "ok".utf8)
                }
                try expectEqual(
                    server.requests.map { $0["Expect"] },
                    ["100-continue", nil, "100-continue", nil],
                    "Expect"
                )
                try expectEqual(server.requests.map(\.bodyCount), [0, 5000, 0, 5000], "bytes of the body")
            }
        },
        ConformanceCheck(
            "A body sent before a 417 is sent again if repeatable",
            needs: needsExpecting
        ) { subject in
            for isReplayable in [true, false] {
                let server = try ScriptedServer { index in
                    let reply = "HTTP/1.1 \(index == 0 ? "417 No" : "200 OK")\r\nContent-Length: 2\r\n\r\nok"
                    return [.receiveRequest, .send(reply), .waitForClose]
                }
                let content = Data("once".utf8)
                let stream = HTTP.Body.Stream(AsyncStream([content]), length: 4)
                let request = try HTTP.Request(
                    method: .POST,
                    url: server.url(),
                    body: isReplayable ? .bytes(content) : .stream(stream)
                )
                let client = try subject.client { $0.options = waiting(.milliseconds(50)) }
                if isReplayable {
                    _ = try await client.success(request)
                    try expectEqual(server.requests.map(\.bodyCount), [4, 4], "bytes of the body")
                } else {
                    guard case .bodyNotReplayable = try await client.refusal(request) else {
                        throw ConformanceFailure("expected the body to be refused as not replayable")
                    }
                    try expectEqual(server.requests.count, 1, "requests")
                }
            }
        },
        ConformanceCheck("A final response instead of 100 Continue leaves the body unsent", needs: needsExpecting) {
            subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno"), .waitForClose]
            }
            let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(patternBytes(5000)))
            let (status, _, _) = try await subject.client().unsuccessful(request, options: waiting(.seconds(20)))
            try expectEqual(status, .contentTooLarge, "the status")
            // A connection with an unsent body cannot be reused.
            let seen = try await server.waitUntil { $0.open == 0 }
            try expectEqual(seen.connections[0].receivedCount, seen.requests[0].rawHead.count, "bytes sent")
        },
        ConformanceCheck("A request without a body sends no Expect", needs: needsExpecting) { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let client = try subject.client { $0.options = waiting(.seconds(20)) }
            for method in [HTTP.Method.GET, .POST] {
                _ = try await client.success(HTTP.Request(method: method, url: server.url()))
            }
            try expectEqual(server.requests.map { $0["Expect"] }, [nil, nil], "Expect")
        },
        ConformanceCheck("A 100 Continue wait of zero or less is refused") { subject in
            for wait in [Duration.zero, .seconds(-1)] {
                do {
                    _ = try subject.stack { $0.options = waiting(wait) }
                    throw ConformanceFailure("The configuration was accepted")
                } catch Network.ConfigurationError.invalid {}
            }
        },
    ]

    private static func waiting(_ wait: Duration) -> HTTP.Options {
        var options = HTTP.Options()
        options.expectContinue = wait
        return options
    }
}
