import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Replies that are valid but rare, or look valid but are not.
    static let unusualReplies: [ConformanceCheck] = [
        ConformanceCheck("A header value of blanks is read as empty", needs: [.network]) { subject in
            let fetched = try await response(
                to: "HTTP/1.1 200 OK\r\nX-Blank:  \t \r\nContent-Length: 2\r\n\r\nok",
                subject
            )
            try expectEqual(fetched.value().response.headers["X-Blank"], "", "X-Blank")
        },
        ConformanceCheck("A status line may end after its status", needs: [.network]) { subject in
            for status in [200, 301, 404] {
                let outcome = try await response(to: "HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nok", subject)
                switch outcome {
                case .success(let fetched): try expectEqual(fetched.response.status.rawValue, status, "the status")
                case .failure(.http(let seen, _, _)): try expectEqual(seen.rawValue, status, "the status")
                case .failure(let error): throw ConformanceFailure("saw \(error)")
                }
            }
        },
        ConformanceCheck(
            "gzip of two members is decoded to its end",
            needs: [.network, .decompression],
            rests: [.rfc(1952, "2.2")]
        ) { subject in
            let members = Compressed.gzip + Compressed.gzip
            let peer = try subject.serve { _ in .ok(bytes: members, headers: [("Content-Encoding", "gzip")]) }
            try expectBytes(await subject.client().get(peer.url("/")).value, Compressed.text + Compressed.text)
        },
        ConformanceCheck("gzip truncated over HTTP/1.1 fails", needs: [.network, .decompression]) { subject in
            let cut = Array(Compressed.gzip.dropLast(9))
            let peer = try subject.serve { _ in .ok(bytes: cut, headers: [("Content-Encoding", "gzip")]) }
            _ = try await subject.client().breakdown(HTTP.Request(url: peer.url("/")))
        },
        ConformanceCheck(
            "zstd with a window over 8 MiB fails",
            needs: [.network, .decompression],
            rests: [.rfc(9659, "3")]
        ) { subject in
            // RFC 9659 section 3: no more than 8 MiB. The exponent is 10 less than the window's.
            for (exponent, isAllowed) in [(13 as UInt8, true), (14, false)] {
                let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, exponent << 3, 0x11, 0, 0] + "ok".utf8
                let peer = try subject.serve { _ in .ok(bytes: frame, headers: [("Content-Encoding", "zstd")]) }
                let outcome = try await subject.client().outcome(of: HTTP.Request(url: peer.url("/")))
                try needsOffer(of: "zstd", in: peer.requests())
                if isAllowed { try expectBytes(outcome.value().value, "ok".utf8) } else { try outcome.expectBroken() }
            }
        },
        ConformanceCheck(
            "Waiting for a response on a new connection uses no processor time",
            needs: [.network]
        ) { try await waitsIdly($0) },
    ]

    private static func response(to reply: String, _ subject: ConformanceSubject) async throws -> BoundedClient.Outcome
    {
        let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .close] }
        return try await subject.client().outcome(of: HTTP.Request(url: server.url()))
    }

    /// Waits on a new and on a reused connection: other work of the process adds the same to both. The median of three counts.
    private static func waitsIdly(_ subject: ConformanceSubject) async throws {
        let server = try ScriptedServer { _ in
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            return [.repeat([.receiveHead, .pause(.seconds(1)), .send(answer)])]
        }
        var costs: [Duration] = []
        for _ in 1...3 {
            let client = try subject.client()
            let before = ProcessorTime.ofProcess
            _ = try await client.get(server.url())
            let between = ProcessorTime.ofProcess
            _ = try await client.get(server.url())
            costs.append((between - before) - (ProcessorTime.ofProcess - between))
        }
        let median = costs.sorted()[1]
        try expect(
            median < .milliseconds(50),
            "A second of waiting used \(median) more processor time on a new connection"
        )
    }
}
