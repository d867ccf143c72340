import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Servers that send endless frames in cleartext: they delay no other fetch, and no cancel.
    static let floodsInTheClear: [ConformanceCheck] = [
        ("empty DATA", HTTP2Frame(.data, stream: 1)),
        ("WINDOW_UPDATE", HTTP2Frame(.windowUpdate, stream: 1, [0, 0, 0, 1])),
        ("SETTINGS", HTTP2Frame(.settings)),
        ("PING", HTTP2Frame(.ping, [UInt8](repeating: 1, count: 8))),
        ("PING acknowledgements", HTTP2Frame(.ping, flags: HTTP2Frame.endStream, [UInt8](repeating: 1, count: 8))),
    ].map { name, frame in
        ConformanceCheck(
            "A flood of \(name) over HTTP/2 delays no other fetch",
            needs: [.network, .http2PriorKnowledge, .strictReplies]
        ) { try await leavesTurns($0, floodedWith: frame) }
    }

    /// Fetches from a server that sends a flood, and another resource meanwhile, and cancels.
    private static func leavesTurns(_ subject: ConformanceSubject, floodedWith frame: HTTP2Frame) async throws {
        let isReady = Gate()
        // Enough for some seconds of reading, so that a stack that reads all of it is detected.
        let piece = [[UInt8]](repeating: frame.bytes, count: 8192).flatMap(\.self)
        let server = try http2Server { _ in
            [
                .receiveStream, .send([.head(200, on: 1), .data("half", on: 1)]), .open(isReady),
                .run { connection in
                    let end = ContinuousClock.now + .seconds(4)
                    while ContinuousClock.now < end { try connection.send(piece) }
                },
            ]
        }
        let other = try ScriptedServer.responding { _ in .ok("other") }
        let stack = try subject.stack()
        _ = try await stack.text(other.url())
        var options = HTTP.Options()
        options.version = .http2PriorKnowledge
        let flooded = try stack.observe(server.url(), options: options)
        try await isReady.opened()
        var worst = Duration.zero
        for number in 1...11 {
            let (stall, began) = (Stall(), ContinuousClock.now)
            if number <= 10 {
                _ = try await stack.text(other.url())
            } else {
                flooded.cancel()
                _ = try await flooded.outcome()
            }
            let took = ContinuousClock.now - began
            worst = max(worst, took - stall.fullAllowance)
        }
        try expect(worst < .milliseconds(100), "The longest delay was \(worst), beyond the machine's own")
    }
}
