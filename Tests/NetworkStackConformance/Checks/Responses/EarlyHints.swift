import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Informational responses reach the option that requests them.
    static let hints: [ConformanceCheck] = [
        ConformanceCheck(
            "Early hints are delivered as they arrive, before the response",
            needs: [.network, .informationalResponses]
        ) { subject in
            let mayFinish = Gate()
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"),
                    .wait(for: mayFinish),
                    .send(
                        "HTTP/1.1 103 Early Hints\r\nLink: </b.css>; rel=preload\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
                    ),
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .waitForClose,
                ]
            }
            let (received, first) = (Lock<[String]>([]), Gate())
            var options = HTTP.Options()
            options.onInformational = { response in
                received.withLock { $0.append("\(response.status) \(response.headers["Link"] ?? "-")") }
                first.open()
            }
            let observation = try subject.stack().observe(.get(server.url(), options: options)) { _ in
                received.withLock { $0.append("end") }
            }
            try await first.opened()
            try expect(!observation.isCompleted, "the fetch has completed")
            mayFinish.open()
            try expectEqual(try await observation.onlyOutcome().text(), "ok", "the body")
            try expectEqual(
                received.withLock { $0 },
                ["103 </a.css>; rel=preload", "103 </b.css>; rel=preload", "102 -", "end"],
                "the responses"
            )
        },
        ConformanceCheck(
            "No informational response is delivered after a cancel",
            needs: [.network, .informationalResponses]
        ) { subject in
            let mayGoOn = Gate()
            let server = try ScriptedServer { _ in
                [.receiveHead, .wait(for: mayGoOn), .send("HTTP/1.1 103 Early Hints\r\n\r\n"), .waitForClose]
            }
            let received = Lock(0)
            var options = HTTP.Options()
            options.onInformational = { _ in received.withLock { $0 += 1 } }
            let observation = try subject.stack().observe(server.url(), options: options)
            try await server.sees("the request") { $0.requests.count == 1 }
            observation.cancel()
            try await observation.onlyOutcome().expectCancelled()
            mayGoOn.open()
            try await server.sees("the close") { $0.open == 0 }
            try expectEqual(received.withLock { $0 }, 0, "informational responses")
        },
    ]
}
