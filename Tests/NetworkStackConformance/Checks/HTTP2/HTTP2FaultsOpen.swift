import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Connection errors of HTTP/2 after which the server keeps the connection open: the client must close it (RFC 9113
    /// section 5.4.1), and the fetch must not wait for a timeout.
    static let openFaultsOfHTTP2: [ConformanceCheck] =
        faultsAnywhere.map { name, frame in
            ConformanceCheck("Half a body, then \(name), fails at once", needs: needsOpenFaults) {
                try await failsAtOnce($0, after: [.head(200, on: 1), .data("half", on: 1)], frame.bytes)
            }
        }
        + [faultsAnywhere, faultsBeforeTheHead].joined().map { name, frame in
            ConformanceCheck("Before a head, \(name) is a protocol error", needs: needsOpenFaults) {
                let error = try await failsAtOnce($0, after: [], frame.bytes)
                try expectMalformed(error)
            }
        }
        + [
            ConformanceCheck("HTTP/1.1 text over HTTP/2 is a protocol error", needs: needsOpenFaults) {
                let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                let error = try await failsAtOnce($0, after: [], Array(text.utf8))
                try expectMalformed(error)
            }
        ]

    private static let needsOpenFaults: Set<HTTP.Capability> = [.network, .http2PriorKnowledge, .strictReplies]

    private static let faultsAnywhere: [(String, HTTP2Frame)] = [
        ("a PING of 7 bytes", HTTP2Frame(.ping, [UInt8](repeating: 1, count: 7))),
        ("DATA on stream 0", .data("stray", on: 0)),
        ("SETTINGS_ENABLE_PUSH of 5", HTTP2Frame(.settings, [0, 2, 0, 0, 0, 5])),
        ("undecodable fields", HTTP2Frame(.headers, flags: 5, stream: 1, [UInt8](repeating: 0xFF, count: 5))),
        ("CONTINUATION out of place", HTTP2Frame(.continuation, flags: 4, stream: 1, [0x88])),
        ("padding longer than its frame", HTTP2Frame(.data, flags: 8, stream: 1, [200, 1, 2])),
        ("an oversized frame", HTTP2Frame(.data, stream: 1, [UInt8](repeating: 1, count: 20_000))),
        ("a WINDOW_UPDATE of zero", HTTP2Frame(.windowUpdate, [0, 0, 0, 0])),
    ]

    private static let faultsBeforeTheHead: [(String, HTTP2Frame)] = [
        ("DATA", .data("early", on: 1))
    ]

    /// Fetches a body that ends with this fault, on a connection that stays open. Expects a failure that is no timeout, and a
    /// close. The fault is sent together with the bytes before it, and alone.
    @discardableResult
    private static func failsAtOnce(
        _ subject: ConformanceSubject,
        after frames: [HTTP2Frame],
        _ fault: [UInt8]
    ) async throws -> (any Error)? {
        var error: (any Error)?
        for isAlone in [false, true] {
            let server = try http2Server { _ in
                let before = frames.flatMap(\.bytes)
                let steps: [ScriptedServer.Step] =
                    isAlone
                    ? [.send(before), .pause(.milliseconds(200)), .send(fault)] : [.send(before + fault)]
                return [.receiveStream] + steps + [.waitForClose]
            }
            let client = try subject.http2Client { $0.timeouts.idle = .seconds(2) }
            error = try await client.breakdown(HTTP.Request(url: server.url()))
            try await server.sees("the close", within: .seconds(3)) { $0.connections.allSatisfy { $0.isEndedByPeer } }
            try expectEqual(server.snapshot.accepted, 1, "connections")
        }
        return error
    }

    private static func expectMalformed(_ error: (any Error)?) throws {
        guard let error = error as? any HTTPTransportError else { return }
        try expectEqual(error.kind, .malformed, "the kind of \(error)")
    }
}
