import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Response bodies in every framing of HTTP/1.1.
    static let receivedBodies: [ConformanceCheck] =
        [1, 65_536, 10 << 20].map(receives)
        + [
            delivers("A body with a length", "Content-Length: 11\r\n\r\nhello world"),
            delivers("A body in one chunk", chunked + "b\r\nhello world\r\n0\r\n\r\n"),
            delivers("A body in several chunks", chunked + "5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n"),
            delivers(
                "A body in chunks with extensions",
                chunked + "5;a\r\nhello\r\n1;b=c\r\n \r\n5 ;d=\"e;f\"\r\nworld\r\n0;last\r\n\r\n"
            ),
            delivers(
                "A body in chunks whose sizes have leading zeros",
                chunked + "0000b\r\nhello world\r\n000\r\n\r\n"
            ),
            delivers("A body in chunks whose sizes are in capitals", chunked + "B\r\nhello world\r\n0\r\n\r\n"),
            delivers("A body up to the connection's end", "Connection: close\r\n\r\nhello world"),
            delivers("An HTTP/1.0 body up to the connection's end", "\r\nhello world", version: "HTTP/1.0"),
            delivers("An HTTP/1.0 body with a length", "Content-Length: 11\r\n\r\nhello world", version: "HTTP/1.0"),
            delivers(
                "A body with the same length twice",
                "Content-Length: 11\r\nContent-Length: 11\r\n\r\nhello world",
                needs: [.nonconformingHeads]
            ),
            drips("A body with a length", "Content-Length: 11\r\n\r\nhello world"),
            drips("A body in chunks", chunked + "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"),
            drips("A body without a length", "Connection: close\r\n\r\nhello world"),
            ConformanceCheck("A body in chunks of one byte is delivered whole", needs: [.network]) { subject in
                let content = patternBytes(3000)
                let framed = content.flatMap { Array("1\r\n".utf8) + [$0] + Array("\r\n".utf8) }
                let head = Array("HTTP/1.1 200 OK\r\n\(chunked)".utf8)
                let peer = try subject.serve { _ in Reply(head: head, body: framed + Array("0\r\n\r\n".utf8)) }
                try expectBytes(await subject.client().get(peer.url("/")).value, content)
            },
            ConformanceCheck("A body with every byte value is delivered unchanged") { subject in
                let content = (0..<2048).map { UInt8(truncatingIfNeeded: $0) }
                let peer = try subject.serve { _ in .ok(bytes: content) }
                try expectBytes(await subject.client().get(peer.url("/")).value, content)
            },
            ConformanceCheck("The connection is used again after a chunked body", needs: [.network]) {
                subject in
                let peer = try subject.serve { _ in .chunked(["hello", " world"]) }
                let client = try subject.client()
                for _ in 1...3 { try expectBytes(await client.get(peer.url("/")).value, "hello world".utf8) }
                try expectEqual(peer.requests().map(\.connectionIndex), [0, 0, 0], "the connections")
            },
        ]

    private static let chunked = "Transfer-Encoding: chunked\r\n\r\n"

    private static func receives(_ count: Int) -> ConformanceCheck {
        ConformanceCheck("\(count) bytes are received as they were sent") { subject in
            let content = Array(patternBytes(count))
            let peer = try subject.serve { _ in .ok(bytes: content) }
            try expectBytes(await subject.client().get(peer.url("/")).value, content)
        }
    }

    private static func delivers(
        _ what: String,
        _ text: String,
        version: String = "HTTP/1.1",
        needs: Set<HTTP.Capability> = []
    ) -> ConformanceCheck {
        ConformanceCheck("\(what) is delivered whole", needs: needs.union([.network])) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .send("\(version) 200 OK\r\n\(text)"), .close] }
            let fetched = try await subject.client().get(server.url())
            try expectBytes(fetched.value, "hello world".utf8)
            try expectEqual(fetched.response.status, .ok, "the status")
        }
    }

    private static func drips(_ what: String, _ text: String) -> ConformanceCheck {
        ConformanceCheck("\(what) arriving byte by byte is delivered whole", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .drip("HTTP/1.1 200 OK\r\nX-Slow: yes\r\n\(text)", every: .milliseconds(1)), .close]
            }
            let fetched = try await subject.client().get(server.url())
            try expectBytes(fetched.value, "hello world".utf8)
            try expectEqual(fetched.response.headers["X-Slow"], "yes", "a header")
        }
    }
}
