import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsFrames: Set<HTTP.Capability> = [.network, .http2PriorKnowledge, .strictReplies]

    /// Protocol errors of an HTTP/2 server, and legal frames that look like them. The server's frames are written by hand.
    static let faultsOfHTTP2: [ConformanceCheck] = cutStreams + sharedFaultsOfHTTP2 + goAways + oddFrames

    private static let cutStreams: [ConformanceCheck] =
        [
            (
                "an oversized DATA frame",
                [HTTP2Frame(.data, stream: 1, [UInt8](repeating: 1, count: 20_000))]
            ),
            ("DATA on an unopened stream", [.data("stray", on: 7)]),
            ("a WINDOW_UPDATE of zero", [HTTP2Frame(.windowUpdate, [0, 0, 0, 0])]),
            ("SETTINGS of wrong length", [HTTP2Frame(.settings, [0, 0, 0])]),
            ("a PING of wrong length", [HTTP2Frame(.ping, [1, 2, 3])]),
            ("CONTINUATION without a head", [HTTP2Frame(.continuation, flags: 4, stream: 1, [0x88])]),
            (
                "an undecodable head",
                [HTTP2Frame(.headers, flags: 5, stream: 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF])]
            ),
        ].flatMap { name, frames in
            [true, false].map { hasLength in
                let fields = hasLength ? [(name: "content-length", value: "10")] : []
                return ConformanceCheck(
                    "A body \(hasLength ? "with" : "without") a length fails after \(name)",
                    needs: needsFrames
                ) { subject in
                    let server = try http2Server { _ in
                        [.receiveStream, .send([.head(200, fields, on: 1), .data("half", on: 1)] + frames), .close]
                    }
                    _ = try await subject.http2Client().breakdown(HTTP.Request(url: server.url()))
                }
            }
        } + [
            ConformanceCheck("A body over HTTP/2 whose connection closes is truncated", needs: needsFrames) { subject in
                for last in [ScriptedServer.Step.close, .reset] {
                    let server = try http2Server { _ in
                        [.receiveStream, .send([.head(200, on: 1), .data("half", on: 1)]), last]
                    }
                    _ = try await subject.http2Client().breakdown(HTTP.Request(url: server.url()))
                }
            },
            ConformanceCheck(
                "An HTTP/2 connection error fails the fetch although the connection stays open",
                needs: needsFrames
            ) { subject in
                let server = try http2Server { _ in
                    [
                        .receiveStream,
                        .send([.head(200, on: 1), .data("half", on: 1), HTTP2Frame(.windowUpdate, [0, 0, 0, 0])]),
                        .waitForClose,
                    ]
                }
                let client = try subject.http2Client { $0.timeouts.idle = .milliseconds(300) }
                _ = try await client.failure(HTTP.Request(url: server.url()))
            },
            ConformanceCheck("A body without a length is whole at its stream's end", needs: needsFrames) {
                subject in
                let server = try http2Server { _ in
                    [
                        .receiveStream,
                        .send([.head(200, on: 1), .data("whole", on: 1, endsStream: true), .goAway(lastStream: 1)]),
                        .close,
                    ]
                }
                try expectBytes(await subject.http2Client().get(server.url()).value, "whole".utf8)
            },
            ConformanceCheck(
                "A GOAWAY before the body's end does not truncate it",
                needs: needsFrames,
                rests: [.rfc(9113, "6.8")]
            ) {
                subject in
                let server = try http2Server { _ in
                    [
                        .receiveStream, .send([.goAway(lastStream: 1), .head(200, on: 1), .data("who", on: 1)]),
                        .send([.data("le", on: 1, endsStream: true)]), .close,
                    ]
                }
                try expectBytes(await subject.http2Client().get(server.url()).value, "whole".utf8)
            },
        ]

    private static let oddFrames: [ConformanceCheck] = [
        ConformanceCheck(
            "A complete response before the upload's end is delivered",
            needs: needsFrames,
            rests: [.rfc(9113, "8.1")]
        ) {
            subject in
            // NO_ERROR: the server does not need the rest (RFC 9113 section 8.1).
            let server = try http2Server { _ in
                [
                    .run { connection in
                        while try connection.receiveFrame().kind != .data {}
                        let answer = [HTTP2Frame.head(200, on: 1), .data("ok", on: 1, endsStream: true)]
                        try connection.send(answer + [HTTP2Frame(.ping, [UInt8](repeating: 1, count: 8))])
                        // The answer has been read when the ping is answered. libcurl 7.88 loses one that arrives in one
                        // read with the reset.
                        while try connection.receiveFrame().kind != .ping {}
                        try connection.send([.reset(1, code: 0)])
                    }, .waitForClose,
                ]
            }
            let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(patternBytes(4 << 20)))
            try expectBytes(await subject.http2Client().success(request).value, "ok".utf8)
        },
        ConformanceCheck(
            "An early response in one packet with its reset is delivered",
            needs: needsFrames,
            rests: [.rfc(9113, "8.1")]
        ) { subject in
            for status in [200, 413, 200, 413, 200, 413, 200, 413] {
                let server = try http2Server { _ in
                    [
                        .run { connection in
                            while try connection.receiveFrame().kind != .data {}
                            try connection.send([
                                .head(status, on: 1), .data("ok", on: 1, endsStream: true), .reset(1, code: 0),
                            ])
                        }, .waitForClose,
                    ]
                }
                let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(patternBytes(4 << 20)))
                let outcome = try await subject.http2Client().outcome(of: request)
                switch outcome {
                case .success(let fetched): try expectBytes(fetched.value, "ok".utf8)
                case .failure(.http(let seen, _, _)): try expectEqual(seen.rawValue, status, "the status")
                case .failure(let error): throw ConformanceFailure("saw \(error)")
                }
                try expectEqual(server.snapshot.accepted, 1, "connections")
            }
        },
        ConformanceCheck("Ten thousand header fields over HTTP/2 are refused without hanging", needs: needsFrames) {
            subject in
            let server = try http2Server { _ in
                [
                    .receiveStream,
                    .run { connection in
                        let field = [UInt8](HTTP2Frame.trailers([("x", "y")], on: 1).payload)
                        let block = [0x88] + Array(repeatElement(field, count: 10_000).joined())
                        var rest = block[...]
                        var kind = HTTP2Frame.Kind.headers
                        while !rest.isEmpty {
                            let piece = Array(rest.prefix(16_000))
                            rest = rest.dropFirst(piece.count)
                            try connection.send([HTTP2Frame(kind, flags: rest.isEmpty ? 4 : 0, stream: 1, piece)])
                            kind = .continuation
                        }
                        try connection.send([.data("ok", on: 1, endsStream: true)])
                    }, .waitForClose,
                ]
            }
            switch try await subject.http2Client().failure(HTTP.Request(url: server.url())) {
            case .tooManyFields, .headTooLarge, .transport: break
            case let error: throw ConformanceFailure("saw \(error)")
            }
        },
        ConformanceCheck("A body of another length than announced over HTTP/2 fails", needs: needsFrames) {
            subject in
            for content in ["one", "three"] {
                let server = try http2Server { _ in
                    [
                        .receiveStream,
                        .send([.head(200, [("content-length", "4")], on: 1), .data(content, on: 1, endsStream: true)]),
                        .waitForClose,
                    ]
                }
                _ = try await subject.http2Client().breakdown(HTTP.Request(url: server.url()))
            }
        },
        ConformanceCheck("A stream reset within its body fails", needs: needsFrames) {
            subject in
            for code: UInt32 in [1, 2, 7, 8, 11, 13] { try await expectFailure(of: subject, fromResetWith: code) }
        },
        ConformanceCheck(
            "A stream reset with HTTP_1_1_REQUIRED within its body fails",
            needs: needsFrames
        ) { subject in
            let server = try http2Server { index in
                guard index == 0 else { return [.answerStream, .waitForClose] }
                return [
                    .receiveStream, .send([.head(200, on: 1), .data("half", on: 1)]),
                    // Bytes before a reset are lost with it unless they were read.
                    .pause(.milliseconds(100)), .send([.reset(1, code: 13)]), .waitForClose,
                ]
            }
            _ = try await subject.http2Client().breakdown(HTTP.Request(url: server.url()))
        },
        ConformanceCheck(
            "A stream reset within its body fails beside one that continues",
            needs: needsFrames
        ) { subject in
            let server = try http2Server { _ in
                [
                    .receiveStream, .send([.head(200, on: 1), .data("first", on: 1, endsStream: true)]),
                    .receiveStream, .receiveStream,
                    .send([.head(200, on: 3), .head(200, on: 5), .data("half", on: 3), .data("who", on: 5)]),
                    // Bytes before a reset are lost with it unless they were read.
                    .pause(.milliseconds(100)), .send([.reset(3, code: 2)]),
                    .send([.data("le", on: 5, endsStream: true)]), .waitForClose,
                ]
            }
            let client = try subject.http2Client()
            try expectBytes(await client.get(server.url()).value, "first".utf8)
            let request = try HTTP.Request(url: server.url())
            async let one = client.outcome(of: request)
            async let other = client.outcome(of: request)
            let contents = try await [one, other].map { try? String(decoding: $0.get().value, as: UTF8.self) }
            try expectEqual(Set(contents), [nil, "whole"], "what came")
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck(
            "A stream reset with NO_ERROR within its body fails",
            needs: needsFrames,
            rests: [.rfc(9113, "8.1")]
        ) { try await expectFailure(of: $0, fromResetWith: 0) },
        ConformanceCheck(
            "HTTP/2 by prior knowledge never uses a keep-alive connection of HTTP/1.1",
            needs: needsFrames
        ) { subject in
            let kept = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            let server = try ScriptedServer { index in
                index == 0
                    ? [.receiveHead, .send(kept), .receiveHead, .send(kept), .waitForClose]
                    : [.receiveHead, .send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), .close]
            }
            let client = try subject.client()
            var priorKnowledge = HTTP.Options()
            priorKnowledge.version = .http2PriorKnowledge
            try expectBytes(await client.get(server.url()).value, "ok".utf8)
            for attempt in 1...2 {
                let outcome = try await client.outcome(of: HTTP.Request(url: server.url()), options: priorKnowledge)
                if case .success = outcome { throw ConformanceFailure("fetch \(attempt) came over HTTP/1.1") }
            }
        },
    ]

    private static func expectFailure(of subject: ConformanceSubject, fromResetWith code: UInt32) async throws {
        let server = try http2Server { _ in
            [.receiveStream, .send([.head(200, on: 1), .data("half", on: 1), .reset(1, code: code)]), .waitForClose]
        }
        _ = try await subject.http2Client().breakdown(HTTP.Request(url: server.url()))
    }

    /// A server of HTTP/2 without TLS whose connections begin with the prefaces.
    static func http2Server(
        _ script: @escaping @Sendable (_ connectionIndex: Int) -> ScriptedServer.Script
    ) throws -> ScriptedServer {
        try ScriptedServer { [.beginHTTP2] + script($0) }
    }
}

extension ConformanceSubject {
    /// A client that uses HTTP/2 by prior knowledge.
    func http2Client(_ configure: (inout HTTP.Options) -> Void = { _ in }) throws -> BoundedClient {
        try client { configuration in
            configuration.options.version = .http2PriorKnowledge
            configure(&configuration.options)
        }
    }
}
