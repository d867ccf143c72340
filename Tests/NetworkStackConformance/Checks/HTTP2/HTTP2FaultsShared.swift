import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// HTTP/2 connections that fail with several open streams.
    static let sharedFaultsOfHTTP2: [ConformanceCheck] = [2, 5].map { count in
        ConformanceCheck(
            "Bodies of \(count) streams fail on a connection error over HTTP/2",
            needs: [.network, .http2PriorKnowledge, .strictReplies]
        ) { subject, scale in
            for hasPing in [false, true] {
                let streams = (1...UInt32(count)).map { $0 * 2 + 1 }
                let server = try http2Server { index in
                    guard index == 0 else { return [.receiveStream, .waitForClose] }
                    return [.answerStream] + streams.map { _ in .receiveStream } + [
                        .send(streams.flatMap { [.head(200, on: $0), .data("half", on: $0)] })
                    ] + (hasPing ? [.pause(.milliseconds(50))] : []) + [
                        .send([HTTP2Frame(.windowUpdate, [0, 0, 0, 0])]), .waitForClose,
                    ]
                }
                let client = try subject.http2Client { $0.timeouts.idle = .milliseconds(1500) * scale }
                _ = try await client.get(server.url())
                try await together(count) { _ in _ = try await client.failure(HTTP.Request(url: server.url())) }
            }
        }
    }
}
