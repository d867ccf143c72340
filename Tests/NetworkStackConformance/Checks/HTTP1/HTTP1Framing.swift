import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The end of a response must be unambiguous: disagreement between a client and a proxy is an attack vector.
    static let framing: [ConformanceCheck] = [
        broken("Two different Content-Lengths are refused", length("5", "6"), needs: [.strictReplies]),
        broken(
            "Two different Content-Lengths are refused in reverse order too",
            length("6", "5"),
            needs: [.strictReplies]
        ),
        broken("A list of different Content-Lengths is refused", length("5, 6"), needs: [.strictReplies]),
        broken("A list of Content-Lengths with an empty member is refused", length("5,"), needs: [.strictReplies]),
        broken("A Content-Length with a sign is refused", length("+5"), needs: [.strictReplies]),
        broken("A negative Content-Length is refused", length("-5"), needs: [.strictReplies]),
        broken("A Content-Length that is no number is refused", length("five"), needs: [.strictReplies]),
        broken("A hexadecimal Content-Length is refused", length("0x5"), needs: [.strictReplies]),
        broken("A Content-Length with text after it is refused", length("5 bytes"), needs: [.strictReplies]),
        broken("A Content-Length of 2^63 is refused", length("9223372036854775808"), needs: [.strictReplies]),
        broken(
            "A Content-Length of twenty-five digits is refused",
            length("1000000000000000000000005"),
            needs: [.strictReplies]
        ),
        broken(
            "A body longer than a Content-Length with a stray space fails",
            "HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\nhello",
            needs: [.strictReplies]
        ),
        broken(
            "A body shorter than a Content-Length with a stray space fails",
            "HTTP/1.1 200 OK\r\nContent-Length : 10\r\n\r\nhello",
            needs: [.strictReplies]
        ),
        broken(
            "Different Content-Lengths are refused even beside chunked coding",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            needs: [.strictReplies]
        ),
        broken(
            "A nonsensical chunk size is reported as malformed",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n",
            [.malformed],
            needs: [.strictReplies]
        ),
        whole(
            "Two equal Content-Lengths count as one",
            length("5", "5"),
            needs: [.strictReplies, .nonconformingHeads]
        ),
        whole(
            "A list of equal Content-Lengths counts as one",
            length("5, 5"),
            needs: [.strictReplies, .nonconformingHeads]
        ),
        whole("A Content-Length with leading zeros is accepted", length("0005")),
        ConformanceCheck("A Content-Length beside chunked coding never decides where the body ends", needs: [.network])
        {
            subject in
            for count in ["3", "5", "500"] {
                let reply =
                    "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .close] }
                switch try await fetch(from: server, with: subject) {
                case .failure(.badResponse), .failure(.transport): break
                case let outcome:
                    try expectEqual(try outcome.text(), "hello", "the body, with Content-Length \(count)")
                }
            }
        },
        ConformanceCheck("A Content-Length beside chunked coding is ignored, however large", needs: [.network]) {
            subject in
            let reply =
                "HTTP/1.1 200 OK\r\nContent-Length: 99999\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
            let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .close] }
            let client = try subject.client { $0.options.limits.body = 10 }
            let outcome = try await client.outcome(of: HTTP.Request(url: server.url()))
            // Or the response is refused as an attack (RFC 9112 section 6.1).
            if !subject.capabilities.supports(.nonconformingHeads), case .failure(.transport) = outcome { return }
            try expectBytes(outcome.value().value, "ok".utf8)
        },
        ConformanceCheck(
            "A missing body with a length near 2^63 fails, using little memory",
            needs: [.network, .strictReplies]
        ) {
            subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nhello"), .close]
            }
            switch try await fetch(from: server, with: subject) {
            case .failure(.bodyTooLarge), .failure(.transport), .failure(.badResponse): break
            case let outcome: throw ConformanceFailure("Saw \(outcome.summary)")
            }
        },
    ]

    private static func length(_ values: String...) -> String {
        "HTTP/1.1 200 OK\r\n" + values.map { "Content-Length: \($0)\r\n" }.joined() + "\r\nhello"
    }

    private static func whole(_ name: String, _ reply: String, needs: Set<HTTP.Capability> = []) -> ConformanceCheck {
        ConformanceCheck(name, needs: needs.union([.network])) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .waitForClose] }
            try expectEqual(try await fetch(from: server, with: subject).text(), "hello", "the body")
        }
    }
}
