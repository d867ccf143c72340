import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Heads that another recipient may parse differently: accepting one allows a forged next response.
    static let heads: [ConformanceCheck] =
        transferCodings.resting(on: .rfc(9112, "6.1")) + illegalStatusLines.resting(on: .rfc(9112, "4"))
        + fieldNames.resting(on: .rfc(9110, "5.1")) + fieldValues.resting(on: .rfc(9110, "5.5"))

    private static let transferCodings: [ConformanceCheck] =
        [
            coded("gzip", ["gzip"]),
            coded("gzip, chunked", ["gzip, chunked"]),
            coded("xchunked", ["xchunked"]),
            coded("identity, chunked", ["identity, chunked"]),
            coded("chunked, chunked", ["chunked, chunked"]),
            coded("chunked, identity", ["chunked, identity"]),
            coded("chunked on two lines", ["chunked", "chunked"]),
            coded("chunked and identity on two lines", ["chunked", "identity"]),
            coded("identity and chunked on two lines", ["identity", "chunked"]),
            coded("identity alone", ["identity"]),
            coded("chunked after an empty member", [",chunked"]),
            coded("chunked before an empty member", ["chunked,"]),
            coded("chunked with a parameter", ["chunked;a=b"]),
            coded("chunked in quotes", ["\"chunked\""]),
            coded("no coding", [""]),
            coded("chunked over HTTP/1.0", ["chunked"], version: "HTTP/1.0"),
            ConformanceCheck("A Transfer-Encoding of CHUNKED is read", needs: [.network]) { subject in
                let reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \t CHUNKED \r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .waitForClose] }
                try expectEqual(try await fetch(from: server, with: subject).text(), "hello", "the body")
            },
            ConformanceCheck(
                "A Transfer-Encoding over HTTP/2 is refused",
                needs: [.network, .http2PriorKnowledge, .strictReplies]
            ) { subject in
                let server = try http2Server { _ in
                    [
                        .receiveStream,
                        .send([
                            .head(200, [(name: "transfer-encoding", value: "chunked")], on: 1),
                            .data("5\r\nhello\r\n0\r\n\r\n", on: 1, endsStream: true),
                        ]),
                        .waitForClose,
                    ]
                }
                _ = try await subject.http2Client().breakdown(HTTP.Request(url: server.url()))
            },
        ]

    /// The error names the field, and the connection is closed, because the bytes after the head may be anything.
    private static func coded(
        _ what: String,
        _ values: [String],
        version: String = "HTTP/1.1"
    ) -> ConformanceCheck {
        ConformanceCheck("A Transfer-Encoding of \(what) is refused", needs: [.network]) { subject in
            let lines = values.map { "Transfer-Encoding: \($0)\r\n" }.joined()
            let next = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
            let reply = "\(version) 200 OK\r\n\(lines)\r\n5\r\nhello\r\n0\r\n\r\n\(next)"
            for send in [ScriptedServer.Step.send(reply), .drip(reply, every: .zero)] {
                let server = try ScriptedServer { _ in [.receiveHead, send, .waitForClose] }
                let outcome = try await fetch(from: server, with: subject)
                try outcome.expectFailure(.malformed)
                guard case .failure(.transport(let error, _)) = outcome, "\(error)".contains("Transfer-Encoding") else {
                    throw ConformanceFailure("Expected the field's name in \(outcome.summary)")
                }
                try await server.sees("the end of the connection") { $0.open == 0 }
            }
        }
    }

    private static let illegalStatusLines: [ConformanceCheck] = [
        "HTTP/-1.1 200 OK", "HTTP/1.2 200 OK", "HTTP/2 200 OK", "HTTP/3.7 200 OK", "HTTP/:1.1 200 OK",
        "HTTP/\t1.1 200 OK", "HTTP/1.1 2000 OK",
    ].map { line in
        let name = line.replacing("\t", with: "<tab>")
        return ConformanceCheck("A status line \(name) over HTTP/1.1 is no response", needs: [.network]) { subject in
            let reply = "\(line)\r\nContent-Length: 2\r\n\r\nok"
            let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .close] }
            try await fetch(from: server, with: subject).expectBadResponse()
        }
    }

    private static let fieldNames: [ConformanceCheck] = [
        named("that is empty", ": x"), named("with a space", "a b: c"), named("with a tab", "a\tb: c"),
        named("with a control byte", "a\u{1}: c"), named("with a delimiter", "a(b): c"),
        named("with a vertical tab after it", "Content-Length\u{B}: 1"),
        ConformanceCheck("A trailer name that is no token fails the fetch", needs: [.network, .trailers]) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send(chunkedHead + "2\r\nok\r\n0\r\na b: c\r\n\r\n"), .close]
            }
            try await fetch(from: server, with: subject).expectBroken()
        },
    ]

    private static func named(_ what: String, _ line: String) -> ConformanceCheck {
        ConformanceCheck("A field name \(what) fails the fetch", needs: [.network]) { subject in
            let reply = "HTTP/1.1 200 OK\r\nX-Before: 1\r\n\(line)\r\nContent-Length: 2\r\n\r\nok"
            let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .close] }
            try await fetch(from: server, with: subject).expectBroken()
        }
    }

    private static let fieldValues: [ConformanceCheck] = [
        ConformanceCheck("A carriage return in a received value is read as a space", needs: [.network]) { subject in
            let fields = [
                "Content-Type: application/json\r", "X-Split: 1\rX-Forged: 2", "X-Escape: a\u{1B}b",
                "X-Tab: a\tb", "Content-Length: 2\r",
            ]
            let reply = "HTTP/1.1 200 OK\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\nok"
            let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .waitForClose] }
            let outcome = try await fetch(from: server, with: subject)
            // Or the response is refused (RFC 9110 section 5.5).
            if !subject.capabilities.supports(.nonconformingHeads), case .failure = outcome {
                return try outcome.expectBroken()
            }
            let headers = try outcome.value().response.headers
            let expected: HTTP.Headers = [
                "Content-Type": "application/json", "X-Split": "1 X-Forged: 2", "X-Escape": "a\u{1B}b", "X-Tab": "a\tb",
                "Content-Length": "2",
            ]
            for field in expected { try expectEqual(headers[field.name], field.value, "\(field.name)") }
            try expectEqual(headers.count, expected.count, "fields")
        },
        ConformanceCheck("A NUL in a received value fails the fetch", needs: [.network]) { subject in
            let reply = "HTTP/1.1 200 OK\r\nX-Value: a\0b\r\nContent-Length: 2\r\n\r\nok"
            let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .waitForClose] }
            try await fetch(from: server, with: subject).expectFailure(.malformed)
        },
    ]
}
