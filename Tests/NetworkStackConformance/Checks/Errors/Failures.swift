import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Connections that fail and incomplete responses: each is a typed failure, none a success.
    static let failures: [ConformanceCheck] = unreachable + cutShort.resting(on: .rfc(9112, "8")) + senseless

    private static let unreachable: [ConformanceCheck] = [
        ConformanceCheck("A refused connection fails as connect and can be retried", needs: [.network]) {
            subject in
            let closed = try ClosedPort.reserve()
            let observation = try subject.stack().observe("http://127.0.0.1:\(closed.port)/")
            let outcome = try await observation.onlyOutcome()
            try outcome.expectFailure(.connect)
            guard case .failure(let error) = outcome else { return }
            try expect(error.isRetryable, "isRetryable is false for \(error)")
            try expect(observation.elapsed < .seconds(10), "The fetch took \(observation.elapsed)")
        },
        ConformanceCheck("A name that does not exist fails to resolve", needs: [.network]) { subject in
            let observation = try subject.stack().observe("http://does-not-exist.invalid/")
            try await observation.onlyOutcome(within: .seconds(40)).expectFailure(.dns)
        },
        ConformanceCheck("A failed connection does not affect the next fetch", needs: [.network]) { subject in
            let closed = try ClosedPort.reserve()
            let (stack, server) = (try subject.stack(), try ScriptedServer.responding { .ok($0.path) })
            for _ in 1...5 {
                try await stack.observe("http://127.0.0.1:\(closed.port)/").onlyOutcome().expectFailure(.connect)
                try expectEqual(try await stack.text(server.url("/fine")), "/fine", "the next fetch")
            }
        },
        ConformanceCheck("A server without TLS fails an https fetch as TLS failure", needs: [.network]) {
            subject in
            let server = try ScriptedServer { _ in [.send("220 ready\r\n"), .waitForClose] }
            try await subject.stack().observe("https://127.0.0.1:\(server.port)/").onlyOutcome().expectFailure(.tls)
        },
    ]

    private static let cutShort: [ConformanceCheck] = [
        ConformanceCheck("A connection closed without a byte is an empty response", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .close] }
            try await fetch(from: server, with: subject).expectFailure(.empty)
        },
        ConformanceCheck("A connection reset before the head fails", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .reset] }
            try await fetch(from: server, with: subject).expectFailure(.receive, .empty)
        },
        ConformanceCheck("A connection reset within the body fails", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"),
                    .pause(.milliseconds(50)), .reset,
                ]
            }
            try await fetch(from: server, with: subject).expectFailure(.receive, .truncated)
        },
        broken(
            "A body shorter than its Content-Length fails",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nnine byte",
            [.truncated]
        ),
        broken(
            "A missing body fails",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
            [.truncated]
        ),
        broken(
            "A truncated error body is a failed transfer",
            "HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nnine byte",
            [.truncated]
        ),
        broken("A chunk cut short fails", chunkedHead + "5\r\nhel", [.truncated, .receive]),
        broken("A chunked body without its last chunk fails", chunkedHead + "5\r\nhello\r\n", [.truncated, .receive]),
        broken(
            "A chunked body cut within its last chunk fails",
            chunkedHead + "5\r\nhello\r\n0\r\n",
            [.truncated, .receive]
        ),
        broken("A chunked body without any chunk fails", chunkedHead, [.truncated, .receive]),
        broken("A chunk size that is no number fails", chunkedHead + "xyz\r\nhello\r\n0\r\n\r\n"),
        broken("An excessive chunk size fails", chunkedHead + "fffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
        broken("A negative chunk size fails", chunkedHead + "-5\r\nhello\r\n0\r\n\r\n"),
        broken("A head cut after its status line fails", "HTTP/1.1 200 OK\r\n", needs: [.strictReplies]),
        broken("A head cut within its status line fails", "HTTP/1.1 20", needs: [.strictReplies]),
        broken("A head cut within a field fails", "HTTP/1.1 200 OK\r\nContent-Le", needs: [.strictReplies]),
        broken(
            "A head cut before its blank line fails",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
            [.truncated],
            needs: [.strictReplies]
        ),
        broken(
            "A head cut after an informational response fails",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n",
            needs: [.strictReplies]
        ),
        broken(
            "An informational response alone is no final response",
            "HTTP/1.1 103 Early Hints\r\n\r\n",
            needs: [.strictReplies]
        ),
    ]

    private static let senseless: [ConformanceCheck] = [
        notHTTP("A greeting of another protocol is no HTTP response", "220 mail.example.com ESMTP ready\r\n"),
        notHTTP("An HTTP/0.9 reply without a head is no HTTP response", "<html>hello</html>"),
        notHTTP("Random bytes are no HTTP response", String(repeating: "\u{7F}\u{1}\u{2}", count: 50)),
        notHTTP("A status line without a status is no HTTP response", "HTTP/1.1\r\nContent-Length: 2\r\n\r\nok"),
        notHTTP("A status that is no number is no HTTP response", "HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\nok"),
        notHTTP("A protocol with another name is no HTTP response", "HTTQ/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ConformanceCheck("A fetch after a reply that is not HTTP succeeds", needs: [.network]) { subject in
            let server = try ScriptedServer { index in
                index == 0
                    ? [.receiveHead, .send("garbage\r\n\r\n"), .close]
                    : [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .waitForClose]
            }
            let stack = try subject.stack()
            try await stack.observe(server.url()).onlyOutcome().expectBadResponse()
            try expectEqual(try await stack.text(server.url()), "ok", "the next fetch")
        },
    ]

    static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// A reply that must be detected as malformed, at once or byte by byte.
    static func broken(
        _ name: String,
        _ reply: String,
        _ kinds: Set<HTTP.FailureKind>? = nil,
        needs: Set<HTTP.Capability> = []
    ) -> ConformanceCheck {
        ConformanceCheck(name, needs: needs.union([.network])) { subject in
            for send in [ScriptedServer.Step.send(reply), .drip(reply, every: .zero)] {
                let server = try ScriptedServer { _ in [.receiveHead, send, .close] }
                let outcome = try await fetch(from: server, with: subject)
                try outcome.expectBroken()
                if let kinds, case .failure(.transport(let error, _)) = outcome {
                    let kind = (error as? any HTTPTransportError)?.kind
                    try expect(kind.map(kinds.contains) ?? false, "Expected one of \(kinds), saw \(outcome.summary)")
                } else if let kinds {
                    throw ConformanceFailure("Expected one of \(kinds), saw \(outcome.summary)")
                }
            }
        }
    }

    private static func notHTTP(_ name: String, _ reply: String) -> ConformanceCheck {
        ConformanceCheck(name, needs: [.network]) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .close] }
            try await fetch(from: server, with: subject).expectBadResponse()
        }
    }

    /// Fetches the server's root with a new stack; nothing here may hang until the idle timeout.
    static func fetch(from server: ScriptedServer, with subject: ConformanceSubject) async throws -> Outcome {
        try await subject.stack().observe(server.url()).onlyOutcome(within: .seconds(10))
    }
}
