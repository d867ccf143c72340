import CurlStack
import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

/// A transfer may end while another is abandoned, after the loop has taken those that had ended.
@Suite("Transfers that end while another is abandoned", .serialized, .timeLimit(.minutes(1)))
struct LateEndTests {
    /// An upload that is answered early leaves its stream. A fetch is about to join its connection, and is refused there: its head
    /// is too long for HTTP/2.
    @Test("are reported at once", arguments: [false, true])
    func refused(uploadFirst: Bool) async throws {
        for _ in 1...5 { try await round(uploadFirst: uploadFirst) }
    }

    private func round(uploadFirst: Bool) async throws {
        let (isFull, answers) = (Gate(), Gate())
        let server = try ScriptedServer { _ in
            [
                .beginHTTP2, .answerStream,
                .run { connection in
                    // The upload has the stream that its head does not end.
                    var (upload, other, sent) = (UInt32(0), UInt32(0), 0)
                    while upload == 0 || other == 0 || sent < 65_000 {
                        let frame = try connection.receiveFrame()
                        let ends = frame.flags & HTTP2Frame.endStream != 0
                        switch frame.kind {
                        case .settings where !ends: try connection.send([.settingsAnswer])
                        case .headers where ends: other = frame.stream
                        case .headers: upload = frame.stream
                        case .data: sent += frame.payload.count
                        default: break
                        }
                    }
                    isFull.open()
                    try connection.wait(for: answers)
                    let early = [HTTP2Frame.head(204, on: upload, endsStream: true)]
                    let usual = [HTTP2Frame.head(200, on: other), .data("x", on: other, endsStream: true)]
                    try connection.send(uploadFirst ? early + usual : usual + early)
                },
                .waitForClose,
            ]
        }
        var configuration = Network.Configuration()
        configuration.options.version = .http2PriorKnowledge
        configuration.options.timeouts.idle = .seconds(10)
        configuration.connections.streamsPerConnection = 2
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        _ = try await stack.fetch(resource: get(server.url()))
        let upload = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(Data(count: 4 << 20)))
        let long = try HTTP.Request(url: server.url(), headers: ["X-Long": String(repeating: "b", count: 63_500)])
        async let first = stack.fetch(resource: .init(baseRequestMaking: .request(upload)))
        async let second = stack.fetch(resource: get(server.url()))
        try await isFull.opened()
        async let third = stack.fetch(resource: .init(baseRequestMaking: .request(long)))
        while await stack.gauges.total.waiting == 0 { try await Task.sleep(for: .milliseconds(5)) }
        answers.open()
        _ = try await (first, second)
        do {
            _ = try await third
            Issue.record("A head that is too long was sent")
        } catch {
            guard case .invalidRequest = error as? Network.CurlFetchError else { throw error }
        }
        await stack.shutdown()
    }
}
