import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsFrames: Set<HTTP.Capability> = [.network, .http2PriorKnowledge, .strictReplies]

    /// The cause that an error of HTTP/2 names.
    static let errorsOfHTTP2: [ConformanceCheck] =
        ["Connection", "Upgrade", "Keep-Alive", "Proxy-Connection"].map { name in
            ConformanceCheck(
                "The error names a response's \(name) field over HTTP/2",
                needs: needsFrames,
                rests: [.rfc(9113, "8.2.2")]
            ) { subject in
                // RFC 9113 section 8.2.2.
                let server = try http2Server { _ in
                    [
                        .receiveStream,
                        .send([.head(200, [(name.lowercased(), "h2c")], on: 1), .data("ok", on: 1, endsStream: true)]),
                        .waitForClose,
                    ]
                }
                let error = try await subject.http2Client().breakdown(HTTP.Request(url: server.url()))
                try expectText(of: error, contains: name.lowercased())
            }
        }
        + [
            ConformanceCheck("The error names the code of the GOAWAY that ended it", needs: needsFrames) {
                try await expectText(of: errorAfterGOAWAY($0), contains: "enhance_your_calm")
            },
            ConformanceCheck("The error names the code of a GOAWAY before the head", needs: needsFrames) {
                try await expectText(of: errorAfterGOAWAY($0, isBeforeHead: true), contains: "enhance_your_calm")
            },
            ConformanceCheck("The error has the text of the GOAWAY that ended it", needs: needsFrames) {
                try await expectText(of: errorAfterGOAWAY($0), contains: "too_many_pings")
            },
            ConformanceCheck(
                "An ALTSVC frame before a response over HTTP/2 changes nothing",
                needs: needsFrames,
                rests: [.rfc(7838, "4")]
            ) {
                subject in
                // RFC 7838 section 4: on stream 0 for an origin, or on a stream for its own origin.
                let value = Array("h2=\":443\"".utf8)
                let ofOrigin: [UInt8] =
                    [0, 0, UInt8(value.count + 11), 0x0A, 0, 0, 0, 0, 0, 0, 9] + "http://a/".utf8 + value
                let ofStream: [UInt8] = [0, 0, UInt8(value.count + 2), 0x0A, 0, 0, 0, 0, 1, 0, 0] + value
                for frame in [ofOrigin, ofStream] {
                    let server = try http2Server { _ in
                        [
                            .receiveStream, .send(frame),
                            .send([.head(200, on: 1), .data("ok", on: 1, endsStream: true)]), .waitForClose,
                        ]
                    }
                    try expectBytes(
                        await subject.http2Client { $0.timeouts.idle = .seconds(3) }.get(server.url()).value,
                        "ok".utf8
                    )
                }
            },
            ConformanceCheck(
                "A PING is answered while a stream's reader pauses",
                needs: needsFrames,
                rests: [.rfc(9113, "6.7")]
            ) {
                try await answersPings($0)
            },
        ]

    private static func errorAfterGOAWAY(
        _ subject: ConformanceSubject,
        isBeforeHead: Bool = false
    ) async throws -> (any Error)? {
        let server = try http2Server { _ in
            let end = HTTP2Frame.goAway(lastStream: 1, code: 11)
            let frame = HTTP2Frame(.goAway, end.payload + Array("too_many_pings".utf8))
            let begun = isBeforeHead ? [] : [ScriptedServer.Step.send([.head(200, on: 1), .data("half", on: 1)])]
            return [.receiveStream] + begun + [.send([frame]), .close]
        }
        return try await subject.http2Client().breakdown(HTTP.Request(url: server.url()))
    }

    private static func expectText(of error: (any Error)?, contains text: String) throws {
        let seen = error.map { "\($0)" } ?? "a bad response"
        try expect(seen.lowercased().contains(text), "the error does not name \(text): \(seen)")
    }

    /// The reader reads nothing of a body larger than all buffers, and the server detects whether its PING is answered.
    private static func answersPings(_ subject: ConformanceSubject) async throws {
        let answered = Gate()
        let server = try http2Server { _ in
            [
                .receiveStream, .send([.head(200, on: 1)]),
                .run { connection in
                    let piece = HTTP2Frame.data(String(repeating: "x", count: 16_000), on: 1)
                    for _ in 0..<40 { try connection.send([piece]) }
                    // Until then, the client may have read the PING before it paused.
                    try connection.pause(.milliseconds(300))
                    try connection.send([HTTP2Frame(.ping, [UInt8](repeating: 7, count: 8))])
                    while try connection.receiveFrame().kind != .ping {}
                    answered.open()
                }, .waitForClose,
            ]
        }
        let held = try await subject.streaming { $0.options.version = .http2PriorKnowledge }.open(server.url())
        do { try await answered.opened(within: .seconds(3)) } catch is WaitTimedOut {
            throw ConformanceFailure("The PING was not answered")
        }
        withExtendedLifetime(held) {}
    }
}
